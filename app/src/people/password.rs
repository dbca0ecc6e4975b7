//! Passwords: argon2id, off the threads that answer requests, a few at a time.

use std::sync::LazyLock;

use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHash, SaltString};
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use zxcvbn::{Score, zxcvbn};

/// In characters.
pub const MIN_PASSWORD: usize = 10;
/// In bytes; more than any password manager makes.
const MAX_PASSWORD: usize = 1024;

/// More than a million guesses, by zxcvbn's estimate: at the rate at which strangers may try, months.
const LEAST_SCORE: Score = Score::Two;

/// Each hashing takes a core and 19 MiB for some 30 ms: strangers who sign in together wait for each other.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// Verified against when there is no such account, so that the answer takes as long as if there were.
static NOBODYS: LazyLock<String> = LazyLock::new(|| hash_now("nobody has this password").unwrap_or_default());

#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    #[error("A password has at least {MIN_PASSWORD} characters.")]
    TooShort,
    #[error("A password has at most {MAX_PASSWORD} bytes.")]
    TooLong,
    #[error(
        "This password is among the first that are guessed. Take a few words that have nothing to do with each other."
    )]
    TooEasy,
    #[error("password could not be hashed: {0}")]
    Hashing(String),
}

fn hash_now(password: &str) -> Result<String, PasswordError> {
    let salt = SaltString::generate(&mut OsRng);
    let hash = Argon2::default().hash_password(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string()).map_err(|cause| PasswordError::Hashing(cause.to_string()))
}

/// A new password, in PHC text form. `known`: what anybody may know of whose it is, which is guessed first.
pub async fn hash(password: &str, known: &[&str]) -> Result<String, PasswordError> {
    if password.chars().count() < MIN_PASSWORD {
        return Err(PasswordError::TooShort);
    }
    if password.len() > MAX_PASSWORD {
        return Err(PasswordError::TooLong);
    }
    if zxcvbn(password, known).score() < LEAST_SCORE {
        return Err(PasswordError::TooEasy);
    }
    let password = password.to_owned();
    one_of_few(move || hash_now(&password)).await?
}

/// Whether the password is the hash's; without a hash (no such account) it is not, and that takes as long.
pub async fn verify(password: &str, hash: Option<String>) -> Result<bool, PasswordError> {
    let password: String = if password.len() > MAX_PASSWORD { String::new() } else { password.to_owned() };
    one_of_few(move || {
        let known = hash.is_some();
        let text = hash.unwrap_or_else(|| NOBODYS.clone());
        let Ok(hash) = PasswordHash::new(&text) else { return false };
        Argon2::default().verify_password(password.as_bytes(), &hash).is_ok() && known
    })
    .await
}

async fn one_of_few<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PasswordError> {
    let _permit = AT_ONCE.acquire().await.map_err(|cause| PasswordError::Hashing(cause.to_string()))?;
    spawn_blocking(work).await.map_err(|cause| PasswordError::Hashing(cause.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_verified_against_its_own_hash_only() {
        let hash = hash("correct horse", &[]).await.expect("hashes");
        assert!(hash.starts_with("$argon2id$"));
        assert!(verify("correct horse", Some(hash.clone())).await.expect("verifies"));
        assert!(!verify("correct horsf", Some(hash)).await.expect("verifies"));
        assert!(!verify("nobody has this password", None).await.expect("verifies"));
    }

    #[tokio::test]
    async fn nine_characters_are_too_few_and_ten_of_any_script_are_enough() {
        assert!(matches!(hash("x7#kQ9!vb", &[]).await, Err(PasswordError::TooShort)));
        assert!(hash("üben äßt öl", &[]).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_guessed_first_is_refused() {
        let known = ["ada@example.com", "Umbrella Ltd"];
        for easy in [
            "aaaaaaaaaaaa",
            "          ",
            "1234567890",
            "password123",
            "qwertyuiop",
            "ada@example.com",
            "Umbrella Ltd",
        ] {
            assert!(matches!(hash(easy, &known).await, Err(PasswordError::TooEasy)), "{easy:?}");
        }
        assert!(hash("nine lives are enough", &known).await.is_ok());
    }
}
