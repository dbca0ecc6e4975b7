//! Stages and outcomes as the database keeps them: small numbers whose meaning never changes.

use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::{Decode, Postgres, Type};

use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;

macro_rules! kept_as_code {
    ($what:ident) => {
        impl Type<Postgres> for $what {
            fn type_info() -> PgTypeInfo {
                <i16 as Type<Postgres>>::type_info()
            }
        }

        impl<'r> Decode<'r, Postgres> for $what {
            fn decode(value: PgValueRef<'r>) -> Result<$what, BoxDynError> {
                let code = i16::decode(value)?;
                let unknown = || format!("{} {code} is of another version of Toll", stringify!($what)).into();
                $what::from_code(code).ok_or_else(unknown)
            }
        }
    };
}

kept_as_code!(Stage);
kept_as_code!(Outcome);
