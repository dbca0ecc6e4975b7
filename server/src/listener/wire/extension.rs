//! Extensions of a chunk (RFC 9112 §7.1.1). Nobody uses any, and hyper drops them; but where one ends, two servers must
//! agree.

use super::text::{is_field_value, is_token_byte};

/// Where in the extensions the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Whitespace: only a `;` may follow.
    Blank,
    /// Behind the `;`: a name must come.
    Semicolon,
    Name,
    /// Whitespace behind a name: a value or another extension must come.
    AfterName,
    /// Behind the `=`: a value must come.
    Equals,
    Token,
    Quoted,
    /// Behind a backslash within quotes.
    Escaped,
    /// Behind the closing quote.
    Unquoted,
}

impl Extension {
    /// Where the byte after this one stands; `None` if it must not stand here.
    pub fn step(self, byte: u8) -> Option<Extension> {
        use Extension::{AfterName, Blank, Equals, Escaped, Name, Quoted, Semicolon, Token, Unquoted};
        match (self, byte) {
            // Within quotes everything stands for itself.
            (Quoted, b'"') => Some(Unquoted),
            (Quoted, b'\\') => Some(Escaped),
            (Quoted | Escaped, byte) => is_field_value(&[byte]).then_some(Quoted),
            (Blank | Name | AfterName | Token | Unquoted, b';') => Some(Semicolon),
            (Name | AfterName, b'=') => Some(Equals),
            (Equals, b'"') => Some(Quoted),
            // Whitespace around `;` and `=` is something to be put up with.
            (Semicolon | Equals, b' ' | b'\t') => Some(self),
            (Name | AfterName, b' ' | b'\t') => Some(AfterName),
            (Blank | Token | Unquoted, b' ' | b'\t') => Some(Blank),
            (Semicolon | Name, byte) if is_token_byte(byte) => Some(Name),
            (Equals | Token, byte) if is_token_byte(byte) => Some(Token),
            _ => None,
        }
    }

    /// Whether the line may end here.
    pub fn may_end(self) -> bool {
        matches!(self, Extension::Name | Extension::Token | Extension::Unquoted)
    }
}
