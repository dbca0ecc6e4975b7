//! The database's catalog as a file that `toll apply` takes: nothing that is as usual, everything else as it was written.

use std::fmt::Write;

use sqlx::PgPool;
use toml::Value;

use super::{Kind, Manifest, fields, state};

pub async fn export(db: &PgPool) -> sqlx::Result<String> {
    let mut tx = db.begin().await?;
    state::freeze(&mut tx).await?;
    Ok(to_toml(&state::read(&mut tx).await?.manifest))
}

/// What `file::read` reads back as the same manifest.
pub fn to_toml(manifest: &Manifest) -> String {
    let mut text = String::new();
    for kind in Kind::ALL {
        for (name, fields) in fields::of(manifest, kind) {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = writeln!(text, "[[{kind}]]\n{} = {}", kind.name_key(), Value::from(name));
            for field in fields.iter().filter(|field| !field.is_default()) {
                if let Some(value) = &field.value {
                    let _ = writeln!(text, "{} = {value}", field.key);
                }
            }
        }
    }
    text
}
