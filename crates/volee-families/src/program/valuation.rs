//! Values of variables and expressions over them.
//!
//! A valuation has one cell per byte of the program's layout, of which only the first of each variable is used. Reading or
//! writing a global is noted, because a step that never does either is the same for all values of the globals.

use volee_program::{BinaryOp, Expr, Location, Scope};

/// Values of globals and of the locals of one process.
#[derive(Debug, Clone)]
pub struct Valuation {
    pub globals: Vec<i32>,
    pub locals: Vec<i32>,
    /// A global was read or written.
    pub touched: bool,
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undefined(pub String);

type Value = Result<i32, Undefined>;

impl Valuation {
    fn offset(&mut self, location: &Location) -> Result<usize, Undefined> {
        let mut offset = location.offset;
        for index in &location.indices {
            let value = self.value(&index.value)?;
            match u32::try_from(value) {
                Ok(i) if i < index.count => offset += i * index.stride,
                _ => {
                    return Err(Undefined(format!(
                        "array index out of range (there are {} elements)",
                        index.count
                    )));
                }
            }
        }
        Ok(offset as usize)
    }

    /// Stores a value.
    pub fn store(&mut self, location: &Location, value: i32) -> Result<(), Undefined> {
        let offset = self.offset(location)?;
        let value = location.scalar.wrap(value);
        match location.scope {
            Scope::Global => {
                self.touched = true;
                self.globals[offset] = value;
            }
            Scope::Local => self.locals[offset] = value,
            Scope::Nowhere => {}
        }
        Ok(())
    }

    fn load(&mut self, location: &Location) -> Value {
        let offset = self.offset(location)?;
        Ok(match location.scope {
            Scope::Global => {
                self.touched = true;
                self.globals[offset]
            }
            Scope::Local => self.locals[offset],
            Scope::Nowhere => 0,
        })
    }

    /// The value of an expression of the class that [`super::class`] lets through.
    pub fn value(&mut self, expr: &Expr) -> Value {
        Ok(match expr {
            Expr::Const(k) => *k,
            Expr::Load(location) => self.load(location)?,
            Expr::Not(e) => i32::from(self.value(e)? == 0),
            Expr::Neg(e) => self.value(e)?.wrapping_neg(),
            Expr::Complement(e) => !self.value(e)?,
            Expr::Cond(c, a, b) => {
                if self.value(c)? != 0 {
                    self.value(a)?
                } else {
                    self.value(b)?
                }
            }
            Expr::Binary(op, a, b, _) => self.binary(*op, a, b)?,
            _ => return Err(Undefined("this expression depends on how many processes there are".into())),
        })
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Value {
        let a = self.value(a)?;
        match op {
            BinaryOp::And if a == 0 => return Ok(0),
            BinaryOp::Or if a != 0 => return Ok(1),
            _ => {}
        }
        let b = self.value(b)?;
        let truth = i32::from;
        Ok(match op {
            BinaryOp::Add => a.wrapping_add(b),
            BinaryOp::Sub => a.wrapping_sub(b),
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div | BinaryOp::Rem if b == 0 => return Err(Undefined("division by zero".into())),
            BinaryOp::Div => a.wrapping_div(b),
            BinaryOp::Rem => a.wrapping_rem(b),
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            BinaryOp::BitXor => a ^ b,
            BinaryOp::Shl => a.wrapping_shl(b as u32),
            BinaryOp::Shr => a.wrapping_shr(b as u32),
            BinaryOp::Eq => truth(a == b),
            BinaryOp::Ne => truth(a != b),
            BinaryOp::Lt => truth(a < b),
            BinaryOp::Le => truth(a <= b),
            BinaryOp::Gt => truth(a > b),
            BinaryOp::Ge => truth(a >= b),
            BinaryOp::And | BinaryOp::Or => truth(b != 0),
        })
    }
}
