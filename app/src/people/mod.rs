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

/// Whole minutes that somebody who tried too often is told to wait: never fewer than it takes, and 1 at least.
fn minutes(seconds: f64) -> u32 {
    (seconds / 60.0).ceil().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::minutes;

    #[test]
    fn who_must_wait_is_told_whole_minutes_and_never_too_few() {
        assert_eq!([-1.0, 0.0, 0.5, 60.0, 60.1, 3_600.0].map(minutes), [1, 1, 1, 1, 2, 60]);
    }
}
