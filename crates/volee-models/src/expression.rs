//! Conditions as text: the names of properties, comparisons of variables as runs show them, `!`, `&&`, `||`,
//! `->` and parentheses.
//!
//! A property's name alone is the fast case, and the usual one: its closure is called. Comparisons are for
//! people who look around; they print the state's variables and compare the texts, as numbers where both are.
//! What is read becomes a list of operations on a stack of truth values, so nothing here recurses over its
//! input.

use volee::system::{Diagnostic, Place, Variable};

/// Parentheses and negations that may be open at once.
const DEEPEST: usize = 200;

/// What names mean.
pub(crate) struct Names<'a> {
    /// The number of the property with a condition of this name.
    pub conditions: &'a dyn Fn(&str) -> Option<usize>,
    /// The names of all of them.
    pub all: &'a [&'a str],
    /// The variables of some state.
    pub variables: &'a [Variable],
}

/// A condition that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expression {
    operations: Vec<Operation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operation {
    Constant(bool),
    Property(usize),
    Compare { variable: String, how: Comparison, value: String },
    Not,
    And,
    Or,
    Implies,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Expression {
    /// Reads a condition.
    pub fn read(text: &str, names: &Names<'_>) -> Result<Self, Diagnostic> {
        if let Some(number) = (names.conditions)(text.trim()) {
            return Ok(Expression { operations: vec![Operation::Property(number)] });
        }
        Reader { text, at: 0, names, output: Vec::new(), waiting: Vec::new() }.read()
    }

    /// Its value, given those of properties and variables.
    pub fn holds(
        &self,
        property: &dyn Fn(usize) -> bool,
        variables: &dyn Fn() -> Vec<Variable>,
    ) -> Result<bool, String> {
        if let [Operation::Property(number)] = self.operations.as_slice() {
            return Ok(property(*number));
        }
        let mut values: Vec<bool> = Vec::new();
        let mut shown = None;
        let pop = |values: &mut Vec<bool>| values.pop().expect("an operator follows its operands");
        for operation in &self.operations {
            let value = match operation {
                Operation::Constant(value) => *value,
                Operation::Property(number) => property(*number),
                Operation::Compare { variable, how, value } => {
                    let all = shown.get_or_insert_with(variables);
                    let found = all.iter().find(|v| v.name == *variable);
                    let found = found.ok_or_else(|| format!("there is no `{variable}` in this state"))?;
                    how.holds(&found.value, value)
                }
                Operation::Not => !pop(&mut values),
                Operation::And => pop(&mut values) & pop(&mut values),
                Operation::Or => pop(&mut values) | pop(&mut values),
                Operation::Implies => {
                    let right = pop(&mut values);
                    !pop(&mut values) | right
                }
            };
            values.push(value);
        }
        Ok(pop(&mut values))
    }
}

impl Comparison {
    fn holds(self, left: &str, right: &str) -> bool {
        let order = match (left.parse::<i128>(), right.parse::<i128>()) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            _ => left.cmp(right),
        };
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Unequal => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::AtMost => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::AtLeast => order.is_ge(),
        }
    }
}

/// An operator that waits for its right operand, or a parenthesis for its partner.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Waiting {
    Operator(Operation),
    Open,
}

impl Waiting {
    /// How strongly it binds; an open parenthesis keeps everything.
    fn strength(&self) -> u8 {
        match self {
            Waiting::Open => 0,
            Waiting::Operator(Operation::Implies) => 1,
            Waiting::Operator(Operation::Or) => 2,
            Waiting::Operator(Operation::And) => 3,
            Waiting::Operator(_) => 4,
        }
    }
}

/// Dijkstra's shunting yard.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: &'a Names<'a>,
    output: Vec<Operation>,
    waiting: Vec<Waiting>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Expression, Diagnostic> {
        loop {
            self.operand()?;
            while self.eat(")") {
                self.close()?;
            }
            if self.rest().is_empty() {
                break;
            }
            self.operator()?;
        }
        self.release(1);
        match self.waiting.is_empty() {
            true => Ok(Expression { operations: self.output }),
            false => Err(self.wrong("a parenthesis is not closed")),
        }
    }

    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn wrong(&self, message: impl Into<String>) -> Diagnostic {
        let column = self.text[..self.at].chars().count() as u32 + 1;
        let place = Place::new("expression", 1, column);
        let known = self.names.all.iter().map(|name| format!("`{name}`"));
        let shown = self.names.variables.iter().map(|v| format!("`{}`", v.name));
        let words: Vec<String> = known.chain(shown).take(12).collect();
        Diagnostic::error(message, Some(place)).with_help(match words.is_empty() {
            true => "the model names no properties and has no variables".into(),
            false => format!("there are {}", words.join(", ")),
        })
    }

    fn operand(&mut self) -> Result<(), Diagnostic> {
        loop {
            let opens = if self.eat("!") {
                Waiting::Operator(Operation::Not)
            } else if self.eat("(") {
                Waiting::Open
            } else {
                break;
            };
            if self.waiting.len() >= DEEPEST {
                return Err(self.wrong("too much is nested in each other"));
            }
            self.waiting.push(opens);
        }
        let operand = self.name_or_comparison()?;
        self.output.push(operand);
        Ok(())
    }

    /// The longest name of a property that stands here, a constant, or a variable that is compared.
    fn name_or_comparison(&mut self) -> Result<Operation, Diagnostic> {
        let rest = self.rest().to_string();
        let ends =
            |name: &str| rest[name.len()..].trim_start().chars().next().is_none_or(|c| ")&|-!".contains(c));
        let mut names: Vec<&str> =
            self.names.all.iter().copied().filter(|n| rest.starts_with(n) && ends(n)).collect();
        names.sort_by_key(|name| name.len());
        if let Some(name) = names.last()
            && let Some(number) = (self.names.conditions)(name)
        {
            self.at += name.len();
            return Ok(Operation::Property(number));
        }
        let word = rest.split(|c: char| "=!<>&|()".contains(c)).next().unwrap_or_default();
        // An arrow begins with what may also belong to a name.
        let arrow = rest[word.len()..].starts_with('>').then(|| word.strip_suffix('-')).flatten();
        let word = arrow.unwrap_or(word).trim_end();
        match word {
            "" => return Err(self.wrong("here should be the name of a property or of a variable")),
            "true" | "false" | "1" | "0" => {
                self.at += word.len();
                return Ok(Operation::Constant(matches!(word, "true" | "1")));
            }
            _ => {}
        }
        if !self.names.variables.iter().any(|v| v.name == word) {
            return Err(self.wrong(format!("no property and no variable is called `{word}`")));
        }
        let variable = word.to_string();
        self.at += word.len();
        let Some(&(text, how)) = COMPARISONS.iter().find(|(text, _)| self.rest().starts_with(text)) else {
            // A variable that is a truth value stands for itself.
            return Ok(Operation::Compare { variable, how: Comparison::Equal, value: "true".into() });
        };
        self.at += text.len();
        let value = value_of(self.rest()).to_string();
        if value.is_empty() {
            return Err(self.wrong(format!("`{variable}` is compared with nothing")));
        }
        self.at += value.len();
        Ok(Operation::Compare { variable, how, value })
    }

    fn operator(&mut self) -> Result<(), Diagnostic> {
        let operator = if self.eat("&&") || self.eat("&") {
            Operation::And
        } else if self.eat("||") || self.eat("|") {
            Operation::Or
        } else if self.eat("->") {
            Operation::Implies
        } else {
            return Err(self.wrong("here should be `&&`, `||`, `->` or the end"));
        };
        let waiting = Waiting::Operator(operator);
        // An implication is read from its right end, the others from their left.
        let right = u8::from(waiting.strength() == 1);
        self.release(waiting.strength() + right);
        self.waiting.push(waiting);
        Ok(())
    }

    /// Everything that binds at least so strongly has its operands.
    fn release(&mut self, strength: u8) {
        while let Some(Waiting::Operator(operation)) =
            self.waiting.pop_if(|w| w.strength() >= strength.max(1))
        {
            self.output.push(operation);
        }
    }

    fn close(&mut self) -> Result<(), Diagnostic> {
        self.release(1);
        match self.waiting.pop() {
            Some(_) => {
                // What was negated is now whole.
                self.release(4);
                Ok(())
            }
            None => Err(self.wrong("a parenthesis is closed that was not opened")),
        }
    }
}

/// A value as it is printed, up to what cannot belong to it: brackets in it are balanced.
fn value_of(text: &str) -> &str {
    let mut open = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open == 0 => return text[..at].trim_end(),
            ')' | ']' | '}' => open -= 1,
            '&' | '|' if open == 0 => return text[..at].trim_end(),
            '-' if open == 0 && text[at..].starts_with("->") => return text[..at].trim_end(),
            _ => {}
        }
    }
    text.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(text: &str) -> Result<Expression, Diagnostic> {
        let variables = [
            Variable { name: "n".into(), value: "3".into() },
            Variable { name: "node[1].role".into(), value: "Some(Leader)".into() },
            Variable { name: "up".into(), value: "true".into() },
        ];
        let all = ["yes", "no", "yes and no"];
        let conditions = |name: &str| all.iter().position(|n| *n == name);
        Expression::read(text, &Names { conditions: &conditions, all: &all, variables: &variables })
    }

    fn value(text: &str) -> bool {
        let variables = || {
            vec![
                Variable { name: "n".into(), value: "10".into() },
                Variable { name: "node[1].role".into(), value: "Some(Leader)".into() },
                Variable { name: "up".into(), value: "true".into() },
            ]
        };
        let expression = names_of(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        expression.holds(&|number| number == 0, &variables).expect("all variables are there")
    }

    #[test]
    fn names_comparisons_and_connectives_mean_what_they_say() {
        for text in [
            "yes",
            "!no",
            "yes && !no",
            "no || yes",
            "no -> no",
            "no && no || yes",
            "yes || no && no",
            "!(yes && no)",
            "n > 9",
            "n == 10 && up",
            "node[1].role == Some(Leader)",
            "!yes -> no",
            "no -> no -> no",
            "true",
            "((yes)) && (n != 3)",
            "! !yes",
            "!(no) && yes",
            "up -> yes",
        ] {
            assert!(value(text), "{text}");
            assert!(!value(&format!("!({text})")), "!({text})");
        }
        assert!(!value("yes and no"), "the longest name counts");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_column() {
        for (text, column, words) in [
            ("yes && maybe", 8, "called `maybe`"),
            ("(yes", 5, "not closed"),
            ("yes)", 5, "not opened"),
            ("yes &&", 7, "should be the name"),
            ("n ==", 5, "with nothing"),
            ("yes no", 1, "called `yes no`"),
        ] {
            let wrong = names_of(text).expect_err(text);
            assert!(wrong.message.contains(words), "{text}: {}", wrong.message);
            assert_eq!(wrong.place.map(|p| p.column), Some(column), "{text}");
        }
        assert!(names_of(&"!".repeat(100_000)).is_err());
        assert!(names_of(&"(".repeat(100_000)).is_err());
    }
}
