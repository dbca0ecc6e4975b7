//! What a browser is told of what people cannot do.

use super::{
    AcceptError, ChangeError, InviteError, IssueError, PasswordError, RemoveError, ResetError, SignInError,
};
use crate::error::{Error, sentence};

impl From<SignInError> for Error {
    fn from(cause: SignInError) -> Error {
        match cause {
            SignInError::Wrong => Error::Invalid(cause.to_string()),
            SignInError::TooMany { minutes } => Error::TooManyAttempts { minutes },
            SignInError::Database(cause) => cause.into(),
            SignInError::Password(_) => Error::internal(cause),
        }
    }
}

impl From<ChangeError> for Error {
    fn from(cause: ChangeError) -> Error {
        match cause {
            ChangeError::SignIn(cause) => cause.into(),
            ChangeError::Database(cause) => cause.into(),
            ChangeError::Password(PasswordError::Hashing(_)) => Error::internal(cause),
            told => Error::Invalid(told.to_string()),
        }
    }
}

impl From<AcceptError> for Error {
    fn from(cause: AcceptError) -> Error {
        match cause {
            AcceptError::Database(cause) => cause.into(),
            AcceptError::Password(PasswordError::Hashing(_)) => Error::internal(cause),
            told => Error::Invalid(told.to_string()),
        }
    }
}

impl From<ResetError> for Error {
    fn from(cause: ResetError) -> Error {
        match cause {
            ResetError::Database(cause) => cause.into(),
            ResetError::Password(PasswordError::Hashing(_)) => Error::internal(cause),
            told => Error::Invalid(told.to_string()),
        }
    }
}

impl From<InviteError> for Error {
    fn from(cause: InviteError) -> Error {
        match cause {
            InviteError::Database(cause) => cause.into(),
            InviteError::TooMany { minutes } => Error::TooManyAttempts { minutes },
            // Each begins with what was typed.
            told @ InviteError::Exists { .. } => {
                Error::Invalid(format!("{told}. Remove it there first, or invite another address."))
            }
            told => Error::Invalid(format!("{told}.")),
        }
    }
}

impl From<IssueError> for Error {
    fn from(cause: IssueError) -> Error {
        match cause {
            IssueError::Database(cause) => cause.into(),
            IssueError::Unknown(_) => Error::Invalid("Nobody here has an account with that address.".into()),
        }
    }
}

impl From<RemoveError> for Error {
    fn from(cause: RemoveError) -> Error {
        match cause {
            RemoveError::Database(cause) => cause.into(),
            told => Error::Invalid(sentence(&told.to_string())),
        }
    }
}
