//! PNML place/transition nets: places with their markings, transitions, arcs with their weights.
//!
//! All pages are read as one net. Nets of other types, inhibitor and reset arcs, and reference nodes are refused with
//! their place: a net read wrongly is worse than one not read.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use volee_system::{Diagnostic, Place};

use super::{Comparison, Condition, Net, Rule, Update};

/// Reads a net; `name` is how messages call it.
///
/// # Errors
/// The text is not a place/transition net in PNML.
pub fn read_pnml(text: &str, name: &str) -> Result<Net, Diagnostic> {
    let mut parser = Parser { text, name, nodes: Nodes::default(), open: Vec::new() };
    parser.read()?;
    parser.net()
}

#[derive(Default)]
struct Nodes {
    /// (identity, name, marking)
    places: Vec<(String, Option<String>, u32)>,
    transitions: Vec<(String, Option<String>)>,
    arcs: Vec<Arc>,
}

struct Arc {
    source: String,
    target: String,
    weight: u32,
    at: usize,
}

/// What a text inside the current element belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Place,
    Transition,
    Arc,
    Name,
    Marking,
    Inscription,
    Skipped,
    Other,
}

struct Parser<'a> {
    text: &'a str,
    name: &'a str,
    nodes: Nodes,
    open: Vec<Element>,
}

impl Parser<'_> {
    fn wrong(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        let before = self.text.get(..at.min(self.text.len())).unwrap_or_default();
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
        Diagnostic::error(message, Place::new(self.name, line, column))
    }

    fn read(&mut self) -> Result<(), Diagnostic> {
        let mut reader = Reader::from_str(self.text);
        loop {
            let at = reader.buffer_position() as usize;
            let event = reader
                .read_event()
                .map_err(|e| self.wrong(reader.error_position() as usize, format!("not sound XML: {e}")))?;
            match event {
                Event::Start(start) => {
                    let element = self.enter(&start, at)?;
                    self.open.push(element);
                    if self.open.len() > 200 {
                        return Err(self.wrong(at, "elements are nested too deeply"));
                    }
                }
                Event::Empty(start) => drop(self.enter(&start, at)?),
                Event::End(_) => drop(self.open.pop()),
                Event::Text(text) => self.text(&text.xml10_content(), at)?,
                Event::Eof if self.open.is_empty() => return Ok(()),
                Event::Eof => return Err(self.wrong(at, "the file ends inside an element")),
                _ => {}
            }
        }
    }

    fn attribute(&self, start: &BytesStart<'_>, name: &str, at: usize) -> Result<String, Diagnostic> {
        let value = start.try_get_attribute(name).ok().flatten();
        let value =
            value.and_then(|a| a.normalized_value(XmlVersion::Implicit1_0).ok().map(|v| v.into_owned()));
        value.ok_or_else(|| self.wrong(at, format!("the attribute `{name}` is missing")))
    }

    fn enter(&mut self, start: &BytesStart<'_>, at: usize) -> Result<Element, Diagnostic> {
        if self.open.contains(&Element::Skipped) {
            return Ok(Element::Skipped);
        }
        let tag = start.local_name();
        let inside = |element| self.open.last() == Some(&element);
        let node = inside(Element::Place) || inside(Element::Transition);
        Ok(match tag.as_ref() {
            "net" => {
                let kind = self.attribute(start, "type", at)?;
                if !(kind.contains("ptnet")
                    || kind.to_ascii_lowercase().contains("p/t")
                    || kind.contains("core"))
                {
                    return Err(
                        self.wrong(at, format!("a net of type `{kind}` is not a place/transition net"))
                    );
                }
                Element::Other
            }
            "place" => {
                self.nodes.places.push((self.attribute(start, "id", at)?, None, 0));
                Element::Place
            }
            "transition" => {
                self.nodes.transitions.push((self.attribute(start, "id", at)?, None));
                Element::Transition
            }
            "arc" => {
                let (source, target) =
                    (self.attribute(start, "source", at)?, self.attribute(start, "target", at)?);
                self.nodes.arcs.push(Arc { source, target, weight: 1, at });
                Element::Arc
            }
            "referencePlace" | "referenceTransition" => {
                return Err(self.wrong(at, "reference nodes are not supported"));
            }
            "type" | "arctype" if inside(Element::Arc) => {
                let kind = start.try_get_attribute("value").ok().flatten();
                if kind
                    .is_some_and(|k| k.normalized_value(XmlVersion::Implicit1_0).is_ok_and(|v| v != "normal"))
                {
                    return Err(self.wrong(at, "only normal arcs are supported"));
                }
                Element::Other
            }
            "name" if node => Element::Name,
            "initialMarking" if inside(Element::Place) => Element::Marking,
            "inscription" if inside(Element::Arc) => Element::Inscription,
            "toolspecific" | "graphics" => Element::Skipped,
            _ => Element::Other,
        })
    }

    fn text(&mut self, text: &str, at: usize) -> Result<(), Diagnostic> {
        let text = text.trim();
        if text.is_empty() || self.open.contains(&Element::Skipped) {
            return Ok(());
        }
        // The text stands in a `<text>` (or `<value>`) inside the element it belongs to.
        let Some(at_owner) = self.open.len().checked_sub(2) else { return Ok(()) };
        let owner = at_owner.checked_sub(1).map(|o| self.open[o]);
        match self.open[at_owner] {
            Element::Marking => {
                let tokens = self.number(text, at)?;
                if let Some(place) = self.nodes.places.last_mut() {
                    place.2 = tokens;
                }
            }
            Element::Inscription => {
                let weight = self.number(text, at)?;
                if let Some(arc) = self.nodes.arcs.last_mut() {
                    arc.weight = weight;
                }
            }
            Element::Name if owner == Some(Element::Place) => {
                if let Some(place) = self.nodes.places.last_mut() {
                    place.1 = Some(text.into());
                }
            }
            Element::Name => {
                if let Some(transition) = self.nodes.transitions.last_mut() {
                    transition.1 = Some(text.into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn number(&self, text: &str, at: usize) -> Result<u32, Diagnostic> {
        // Older tools write `Default,3`.
        let digits = text.rsplit(',').next().unwrap_or(text).trim();
        digits.parse().map_err(|_| self.wrong(at, format!("`{text}` is not a number of tokens")))
    }

    fn net(self) -> Result<Net, Diagnostic> {
        let Nodes { places, transitions, arcs } = &self.nodes;
        if places.is_empty() && transitions.is_empty() {
            return Err(self.wrong(0, "the file has no net with places or transitions"));
        }
        let numbered = |ids: Vec<&String>| -> Result<HashMap<String, usize>, Diagnostic> {
            let count = ids.len();
            let map: HashMap<String, usize> =
                ids.into_iter().enumerate().map(|(n, id)| (id.clone(), n)).collect();
            if map.len() < count { Err(self.wrong(0, "two nodes have the same id")) } else { Ok(map) }
        };
        let place_numbers = numbered(places.iter().map(|p| &p.0).collect())?;
        let transition_numbers = numbered(transitions.iter().map(|t| &t.0).collect())?;
        let mut net =
            Net::new(places.iter().map(|(id, name, _)| name.clone().unwrap_or_else(|| id.clone())).collect());
        net.initial = places.iter().map(|p| p.2).collect();
        let mut consumed: Vec<HashMap<usize, i64>> = vec![HashMap::new(); transitions.len()];
        let mut balance = consumed.clone();
        for arc in arcs {
            let weight = i64::from(arc.weight);
            let find = |map: &HashMap<String, usize>, id: &String| map.get(id).copied();
            match (find(&place_numbers, &arc.source), find(&transition_numbers, &arc.target)) {
                (Some(place), Some(transition)) => {
                    *consumed[transition].entry(place).or_default() += weight;
                    *balance[transition].entry(place).or_default() -= weight;
                    continue;
                }
                _ => {
                    let (transition, place) =
                        (find(&transition_numbers, &arc.source), find(&place_numbers, &arc.target));
                    let (Some(transition), Some(place)) = (transition, place) else {
                        let message = format!(
                            "the arc from `{}` to `{}` does not connect a place and a transition",
                            arc.source, arc.target
                        );
                        return Err(self.wrong(arc.at, message));
                    };
                    *balance[transition].entry(place).or_default() += weight;
                }
            }
        }
        for (number, (id, name)) in transitions.iter().enumerate() {
            let mut guards: Vec<Condition> = consumed[number]
                .iter()
                .map(|(&counter, &tokens)| Condition {
                    counter,
                    comparison: Comparison::AtLeast,
                    value: u32::try_from(tokens).unwrap_or(u32::MAX),
                })
                .collect();
            guards.sort_by_key(|g| g.counter);
            let changed = balance[number].iter().filter(|(_, change)| **change != 0);
            let mut updates: Vec<Update> = changed
                .map(|(&counter, &constant)| Update { counter, terms: vec![(1, counter)], constant })
                .collect();
            updates.sort_by_key(|u| u.counter);
            net.rules.push(Rule { name: name.clone().unwrap_or_else(|| id.clone()), guards, updates });
        }
        Ok(net)
    }
}
