//! People: how they are invited, and how they sign in.

mod email;
mod invitation;
mod password;
mod sign_in;

pub use email::normal_email;
pub use invitation::{
    AcceptError, Invitation, InviteAs, InviteError, accept, find_invitation, first_ops_link, invite, link,
};
pub use password::{MIN_PASSWORD, PasswordError};
pub use sign_in::{SignInError, sign_in};
