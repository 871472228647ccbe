//! PNML place/transition nets: places with their markings, transitions, arcs with their weights.
//!
//! All pages are read as one net. Nets of other types, inhibitor and reset arcs, and reference nodes are
//! refused with their place: a net read wrongly is worse than one not read. A text may come in several pieces
//! (entities, CDATA, comments in between); it is read when its element ends.

use std::collections::{BTreeMap, HashMap};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use volee_system::{Diagnostic, Place};

use crate::net::{Initial, MAX_TOKENS, Net, Transition};

/// Reads a net; `name` is how messages call it.
///
/// # Errors
/// The text is not a place/transition net in PNML.
pub fn read_pnml(name: &str, text: &str) -> Result<Net, Diagnostic> {
    let mut parser = Parser { text, name, nodes: Nodes::default(), open: Vec::new(), content: String::new() };
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
    /// The text of the current element so far.
    content: String,
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
                    self.content.clear();
                    if self.open.len() > 200 {
                        return Err(self.wrong(at, "elements are nested too deeply"));
                    }
                }
                Event::Empty(start) => drop(self.enter(&start, at)?),
                Event::End(_) => {
                    let content = std::mem::take(&mut self.content);
                    self.text(content.trim(), at)?;
                    self.open.pop();
                }
                Event::Text(text) => self.content.push_str(&text.xml10_content()),
                Event::CData(text) => self.content.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let entity = self.entity(&reference, at)?;
                    self.content.push_str(&entity);
                }
                Event::Eof if self.open.is_empty() => return Ok(()),
                Event::Eof => return Err(self.wrong(at, "the file ends inside an element")),
                _ => {}
            }
        }
    }

    /// What `&#48;` or `&amp;` stands for.
    fn entity(&self, reference: &BytesRef<'_>, at: usize) -> Result<String, Diagnostic> {
        let number = reference.resolve_char_ref();
        let number = number.map_err(|e| self.wrong(at, format!("not sound XML: {e}")))?;
        let name = reference.xml10_content();
        let known = number.map(String::from).or_else(|| resolve_xml_entity(&name).map(str::to_owned));
        known.ok_or_else(|| self.wrong(at, format!("the entity `&{name};` is not known")))
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
        let number = digits.parse().ok().filter(|n| *n <= MAX_TOKENS);
        number.ok_or_else(|| self.wrong(at, format!("`{text}` is not a number of tokens")))
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
        let base: Vec<u32> = places.iter().map(|p| p.2).collect();
        let open = vec![false; base.len()];
        let name = |(id, name, _): &(String, Option<String>, u32)| name.clone().unwrap_or_else(|| id.clone());
        let mut net = Net {
            places: places.iter().map(name).collect(),
            initial: vec![Initial { base, open }],
            ..Net::default()
        };
        // For each transition what it takes and what it gives.
        let mut both: Vec<[BTreeMap<u32, u32>; 2]> = vec![Default::default(); transitions.len()];
        for arc in arcs {
            let place = |id: &String| place_numbers.get(id).copied();
            let transition = |id: &String| transition_numbers.get(id).copied();
            let ends = match (place(&arc.source), transition(&arc.target)) {
                (Some(place), Some(transition)) => Some((transition, 0, place)),
                _ => transition(&arc.source).zip(place(&arc.target)).map(|(t, p)| (t, 1, p)),
            };
            let Some((transition, side, place)) = ends else {
                let message = format!(
                    "the arc from `{}` to `{}` does not connect a place and a transition",
                    arc.source, arc.target
                );
                return Err(self.wrong(arc.at, message));
            };
            let weight = both[transition][side].entry(place as u32).or_default();
            *weight = weight.saturating_add(arc.weight);
            if *weight > MAX_TOKENS {
                return Err(self.wrong(arc.at, format!("an arc moves at most {MAX_TOKENS} tokens")));
            }
        }
        for ((id, name), [takes, gives]) in transitions.iter().zip(both) {
            let (pre, post): (Vec<_>, Vec<_>) = (takes.into_iter().collect(), gives.into_iter().collect());
            let name = name.clone().unwrap_or_else(|| id.clone());
            net.transitions.push(Transition::arcs(name, &pre, &post));
        }
        Ok(net)
    }
}
