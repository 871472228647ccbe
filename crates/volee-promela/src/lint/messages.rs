//! Channels that only one side uses, and kinds of messages that never meet: what is sent and what is awaited
//! on each class of channels that cannot be told apart.

use hashbrown::HashMap;
use volee_system::{Diagnostic, Place};

use super::Context;
use super::channels::Class;
use super::walk::{self, Owner, behaviours};
use crate::model::{
    ChannelTest, Expr, ExprKind, Init, ReceiveArgument, Reference, StatementKind, Type, Variable,
};

/// What happens to the channels of a class.
#[derive(Default)]
struct Traffic<'m> {
    sends: Vec<(Owner, &'m [Expr], Place)>,
    /// With the place of the channel's name.
    receives: Vec<(Owner, &'m [ReceiveArgument], Place)>,
    /// Polls and `len`: somebody looks, even if nobody takes.
    looks: usize,
}

fn traffic<'m>(context: &Context<'m>) -> HashMap<Class, Traffic<'m>> {
    let mut all: HashMap<Class, Traffic<'m>> = HashMap::new();
    for (owner, behaviour) in behaviours(context.model) {
        if !matches!(owner, Owner::Process(_)) {
            continue;
        }
        walk::statements(&behaviour.body, &mut |statement| {
            match &statement.kind {
                StatementKind::Send { channel, arguments, .. } => {
                    if let Some(class) = context.channels.class(owner, channel) {
                        all.entry(class).or_default().sends.push((owner, arguments, channel.place.clone()));
                    }
                }
                StatementKind::Receive(receive) => {
                    if let Some(class) = context.channels.class(owner, &receive.channel) {
                        let place = receive.channel.place.clone();
                        all.entry(class).or_default().receives.push((owner, &receive.arguments, place));
                    }
                }
                _ => {}
            }
            for expr in walk::expressions(statement) {
                looks(context, owner, expr, &mut all);
            }
        });
    }
    for property in &context.model.ltl {
        walk::atoms(&property.formula, &mut |atom| looks(context, Owner::Nobody, atom, &mut all));
    }
    all
}

fn looks<'m>(context: &Context<'m>, owner: Owner, expr: &'m Expr, all: &mut HashMap<Class, Traffic<'m>>) {
    walk::expression(expr, &mut |e| {
        let channel: &Reference = match &e.kind {
            ExprKind::Poll(poll) => &poll.channel,
            ExprKind::Channel(ChannelTest::Len | ChannelTest::Empty | ChannelTest::NotEmpty, channel) => {
                channel
            }
            _ => return,
        };
        if let Some(class) = context.channels.class(owner, channel) {
            all.entry(class).or_default().looks += 1;
        }
    });
}

/// The variables that channels are made in, with their class.
fn made<'m>(context: &Context<'m>) -> Vec<(&'m Variable, Class, u32)> {
    let mut all = Vec::new();
    let mut add = |owner: Owner, variables: &'m [Variable]| {
        for (i, variable) in variables.iter().enumerate() {
            if let Init::Channel(init) = &variable.init
                && variable.ty == Type::Chan
                && let Some(class) = context.channels.class_of((owner, i as u32))
            {
                all.push((variable, class, init.capacity));
            }
        }
    };
    add(Owner::Nobody, &context.model.globals);
    for (owner, behaviour) in behaviours(context.model) {
        add(owner, &behaviour.locals);
    }
    all
}

pub(super) fn never_read(context: &Context, out: &mut Vec<Diagnostic>) {
    let traffic = traffic(context);
    for (variable, class, capacity) in made(context) {
        let Some(found) = traffic.get(&class) else { continue };
        if found.sends.is_empty() || !found.receives.is_empty() || found.looks > 0 {
            continue;
        }
        let name = &variable.name;
        let help = match capacity {
            0 => "a rendezvous needs both: every send to it blocks for ever".to_owned(),
            n => format!("after {n} messages it is full and every send blocks for ever"),
        };
        out.push(one_sided(variable, format!("nobody receives from the channel `{name}`"), help));
    }
}

pub(super) fn never_written(context: &Context, out: &mut Vec<Diagnostic>) {
    let traffic = traffic(context);
    for (variable, class, _) in made(context) {
        let Some(found) = traffic.get(&class) else { continue };
        if found.receives.is_empty() || !found.sends.is_empty() {
            continue;
        }
        let message = format!("nobody sends to the channel `{}`", variable.name);
        out.push(one_sided(variable, message, "every receive from it blocks for ever".into()));
    }
}

fn one_sided(variable: &Variable, message: String, help: String) -> Diagnostic {
    Diagnostic::warning(message, variable.place.clone()).spanning(variable.name.len() as u32).with_help(help)
}

pub(super) fn kinds(context: &Context, out: &mut Vec<Diagnostic>) {
    let mut all: Vec<(Class, Traffic)> = traffic(context).into_iter().collect();
    all.sort_by_key(|(class, _)| *class);
    for (_, found) in &all {
        if found.sends.is_empty() || found.receives.is_empty() {
            continue;
        }
        awaited(context, found, out);
        if found.looks == 0 {
            unwanted(context, found, out);
        }
    }
}

/// Receives that match a value which no send has in that field.
fn awaited(context: &Context, found: &Traffic, out: &mut Vec<Diagnostic>) {
    for (_, arguments, _) in &found.receives {
        for (i, argument) in arguments.iter().enumerate() {
            let ReceiveArgument::Match(Expr { kind: ExprKind::Constant { value, name }, place }) = argument
            else {
                continue;
            };
            let is_sent = found.sends.iter().any(|(owner, sent, _)| match sent.get(i) {
                Some(expr) => context.values.eval(*owner, expr).contains(*value),
                None => *value == 0,
            });
            if !is_sent {
                let text = name.as_ref().map_or(value.to_string(), |n| n.to_string());
                let message = format!("nobody sends `{text}` here, so this receive never happens");
                out.push(
                    Diagnostic::warning(message, place.clone())
                        .spanning(text.len() as u32)
                        .with_help(sent_here(context, found, i)),
                );
            }
        }
    }
}

/// What the sends have in a field.
fn sent_here(context: &Context, found: &Traffic, field: usize) -> String {
    let mut names: Vec<String> = Vec::new();
    for (owner, sent, _) in &found.sends {
        let Some(expr) = sent.get(field) else { continue };
        let text = match &expr.kind {
            ExprKind::Constant { name: Some(name), .. } => name.to_string(),
            ExprKind::Constant { value, .. } => value.to_string(),
            _ => match context.values.eval(*owner, expr).values(4) {
                Some(values) => values.iter().map(i32::to_string).collect::<Vec<_>>().join(", "),
                None => "other values".into(),
            },
        };
        if !names.contains(&text) {
            names.push(text);
        }
    }
    format!("what is sent there is {}", names.join(", "))
}

/// Sends of a constant that every receive refuses.
fn unwanted(context: &Context, found: &Traffic, out: &mut Vec<Diagnostic>) {
    for (_, sent, _) in &found.sends {
        for (i, argument) in sent.iter().enumerate() {
            let ExprKind::Constant { value, name } = &argument.kind else { continue };
            let accepts = |owner: Owner, receive: &ReceiveArgument| match receive {
                ReceiveArgument::Match(expr) => context.values.eval(owner, expr).contains(*value),
                _ => true,
            };
            let is_taken = found
                .receives
                .iter()
                .any(|(owner, arguments, _)| arguments.get(i).is_none_or(|receive| accepts(*owner, receive)));
            if !is_taken {
                let text = name.as_ref().map_or(value.to_string(), |n| n.to_string());
                let message = format!("nobody receives `{text}` here, so this message stays where it is");
                out.push(
                    Diagnostic::warning(message, argument.place.clone())
                        .spanning(text.len() as u32)
                        .with_help("every receive from this channel waits for something else"),
                );
            }
        }
    }
}
