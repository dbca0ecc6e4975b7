//! Under what an answer is stored.

use http::Uri;

use crate::catalog::Route;

/// Route and its generation, path, and query sorted by name: never the API key. Every part is preceded by its length,
/// so that no crafted URI reads like the parts of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UriKey(Box<[u8]>);

/// Bytes of route and generation.
const ROUTE: usize = 16;

impl UriKey {
    pub fn of(route: &Route, uri: &Uri) -> UriKey {
        UriKey::from_parts(route.id, route.generation, uri.path(), uri.query())
    }

    /// `target`: path and query as a client writes them.
    pub fn at(route: &Route, target: &str) -> UriKey {
        let (path, query) = split(target);
        UriKey::from_parts(route.id, route.generation, path, query)
    }

    fn from_parts(route: i64, generation: i64, path: &str, query: Option<&str>) -> UriKey {
        let mut key = Vec::with_capacity(ROUTE + 8 + path.len() + query.map_or(0, |query| query.len() + 16));
        key.extend(route.to_be_bytes());
        key.extend(generation.to_be_bytes());
        ask(&mut key, path, query);
        UriKey(key.into())
    }

    /// Whether it is of this target, on whatever route.
    pub fn is_of(&self, question: &Question) -> bool {
        self.0[ROUTE..] == question.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Path and query without the route that answers them.
pub struct Question(Vec<u8>);

impl Question {
    pub fn of(target: &str) -> Question {
        let (path, query) = split(target);
        let mut question = Vec::new();
        ask(&mut question, path, query);
        Question(question)
    }
}

fn split(target: &str) -> (&str, Option<&str>) {
    match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    }
}

fn ask(key: &mut Vec<u8>, path: &str, query: Option<&str>) {
    let mut part = |bytes: &[u8]| {
        key.extend((bytes.len() as u32).to_be_bytes());
        key.extend(bytes);
    };
    part(path.as_bytes());
    if let Some(query) = query {
        let mut pairs: Vec<&str> = query.split('&').collect();
        // Stable: `a=1&a=2` and `a=2&a=1` are different questions.
        pairs.sort_by_key(|pair| pair.split('=').next());
        pairs.into_iter().for_each(|pair| part(pair.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(path: &str, query: Option<&str>) -> UriKey {
        UriKey::from_parts(1, 1, path, query)
    }

    #[test]
    fn parameters_in_another_order_are_the_same_question_and_equal_names_keep_theirs() {
        assert_eq!(key("/a", Some("x=1&y=2")), key("/a", Some("y=2&x=1")));
        assert_ne!(key("/a", Some("a=1&a=2")), key("/a", Some("a=2&a=1")));
        assert_ne!(key("/a", None), key("/a", Some("")));
        assert_ne!(UriKey::from_parts(1, 1, "/a", None), UriKey::from_parts(1, 2, "/a", None));
    }

    #[test]
    fn a_key_is_known_by_its_target_on_whatever_route() {
        assert!(key("/a", Some("x=1&y=2")).is_of(&Question::of("/a?y=2&x=1")));
        assert!(!key("/a", None).is_of(&Question::of("/a?")));
        assert!(!key("/a/b", None).is_of(&Question::of("/a")));
    }

    proptest! {
        #[test]
        fn different_questions_never_share_a_key(
            a in ("/[a-c/]{0,4}", proptest::option::of("[a-c=&]{0,6}")),
            b in ("/[a-c/]{0,4}", proptest::option::of("[a-c=&]{0,6}")),
        ) {
            let sorted = |query: &Option<String>| query.as_ref().map(|query| {
                let mut pairs: Vec<String> = query.split('&').map(str::to_owned).collect();
                pairs.sort_by_key(|pair| pair.split('=').next().map(str::to_owned));
                pairs
            });
            let same = a.0 == b.0 && sorted(&a.1) == sorted(&b.1);
            prop_assert_eq!(key(&a.0, a.1.as_deref()) == key(&b.0, b.1.as_deref()), same);
        }
    }
}
