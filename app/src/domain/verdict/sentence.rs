//! A sentence in parts, so that a screen can set names and numbers apart.

use serde::{Deserialize, Serialize};

use crate::domain::numbers::grouped;

/// A piece of a sentence. Put together without anything in between they read as prose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    Text(String),
    /// A name: of a partner, a route, an upstream, a header.
    Code(String),
    /// A number that carries the sentence.
    Strong(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Sentence(pub Vec<Part>);

impl Sentence {
    pub fn new() -> Sentence {
        Sentence::default()
    }

    pub fn say(mut self, text: impl Into<String>) -> Sentence {
        self.0.push(Part::Text(text.into()));
        self
    }

    pub fn name(mut self, name: impl Into<String>) -> Sentence {
        self.0.push(Part::Code(name.into()));
        self
    }

    pub fn number(mut self, number: impl Into<String>) -> Sentence {
        self.0.push(Part::Strong(number.into()));
        self
    }

    pub fn then(mut self, other: Sentence) -> Sentence {
        self.0.extend(other.0);
        self
    }

    /// Names one after the other: "`a`, `b` and `c`"; of more than `most` the rest is counted: "`a`, `b` and 4 more".
    pub fn names(mut self, names: &[&str], most: usize) -> Sentence {
        let shown = if names.len() > most { most } else { names.len() };
        let more = names.len() - shown;
        for (index, name) in names[..shown].iter().enumerate() {
            let is_last = index + 1 == shown && more == 0;
            self = match (index, is_last) {
                (0, _) => self,
                (_, true) => self.say(" and "),
                (_, false) => self.say(", "),
            };
            self = self.name(*name);
        }
        if more > 0 { self.say(format!(" and {} more", grouped(more as u64))) } else { self }
    }

    /// Plain text, names between backticks.
    pub fn text(&self) -> String {
        let piece = |part: &Part| match part {
            Part::Text(text) | Part::Strong(text) => text.clone(),
            Part::Code(name) => format!("`{name}`"),
        };
        self.0.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_has_names_between_backticks() {
        let sentence = Sentence::new().name("acme").say(" asked ").number("40 times").say(".");
        assert_eq!(sentence.text(), "`acme` asked 40 times.");
    }

    #[test]
    fn names_are_listed_and_the_rest_is_counted() {
        let list = |names: &[&str]| Sentence::new().names(names, 3).text();
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b"]), "`a` and `b`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "`a`, `b`, `c` and 2 more");
    }

    #[test]
    fn a_sentence_is_a_list_of_parts_in_json() {
        let sentence = Sentence::new().name("acme").say(" calls");
        let json = serde_json::to_string(&sentence).expect("serialises");
        assert_eq!(json, r#"[{"code":"acme"},{"text":" calls"}]"#);
    }
}
