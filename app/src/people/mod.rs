//! People: how they are invited, and how they sign in.

mod device;
mod email;
mod invitation;
mod password;
mod reset;
mod sign_in;
mod sign_up;

pub use device::{KNOWN_DAYS, remember};
pub use email::normal_email;
pub use invitation::{
    AcceptError, Invitation, InviteAs, InviteError, VALID_HOURS as INVITATION_HOURS, accept, find_invitation,
    first_ops_link, invite, invite_unasked, link,
};
pub use password::{MIN_PASSWORD, PasswordError};
pub use reset::{IssueError, ResetError, VALID_HOURS as RESET_HOURS, find_reset, issue, reset, reset_link};
pub use sign_in::{SignInError, sign_in};
pub use sign_up::{OpenPlan, SignUp, SignUpError, open_plans, sign_up};
