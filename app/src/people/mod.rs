//! People: how they are invited, how they sign in, and how they are let go.

mod device;
mod email;
mod invitation;
mod link;
mod new_password;
mod password;
mod removal;
mod reset;
mod sign_in;
mod sign_up;
mod team;
mod told;

pub use device::{KNOWN_DAYS, remember};
pub use email::normal_email;
pub use invitation::{
    AcceptError, Invitation, InviteAs, InviteError, VALID_HOURS as INVITATION_HOURS, accept, find_invitation,
    first_ops_link, invite, invite_colleague, is_deserted, link,
};
pub use link::OneTimeLink;
pub use new_password::{ChangeError, change_password};
pub use password::{MIN_PASSWORD, PasswordError};
pub use removal::{RemoveError, remove, remove_colleague, withdraw};
pub use reset::{IssueError, ResetError, VALID_HOURS as RESET_HOURS, find_reset, issue, reset, reset_link};
pub use sign_in::{SignInError, sign_in};
pub use sign_up::{OpenPlan, SignUp, SignUpError, open_plans, sign_up};
pub use team::{Person, Team, team};
