//! Windows in the text of a statement, as the pieces of rollups that tile them.

use sqlx::{AssertSqlSafe, Postgres, postgres::PgArguments, query::Query};
use time::OffsetDateTime;

use crate::domain::window::{Grain, Window};

/// The times of a statement: an array that is its first parameter. So its text is the same from minute to minute, and a
/// connection that has prepared it once need not do so again.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    times: Vec<OffsetDateTime>,
}

impl Tiles {
    /// The pieces that tile the window, as one query; `select` ends in a condition.
    pub fn union(&mut self, window: Window, select: impl Fn(Grain) -> String) -> String {
        self.union_up_to(window, Grain::Day, select)
    }

    /// With no piece coarser than a grain, for who wants to see steps of it.
    pub fn union_up_to(
        &mut self,
        window: Window,
        coarsest: Grain,
        select: impl Fn(Grain) -> String,
    ) -> String {
        self.union_of(window.pieces_up_to(coarsest), select)
    }

    /// Pieces that were cut otherwise.
    pub fn union_of(
        &mut self,
        pieces: impl IntoIterator<Item = (Grain, Window)>,
        select: impl Fn(Grain) -> String,
    ) -> String {
        let pieces = pieces.into_iter();
        let selects = pieces.map(|(grain, piece)| format!("{} and {}", select(grain), self.within(piece)));
        selects.collect::<Vec<_>>().join("\nunion all\n")
    }

    /// Takes the times along.
    pub fn query<'a>(self, sql: String) -> Query<'a, Postgres, PgArguments> {
        sqlx::query(AssertSqlSafe(sql)).bind(self.times)
    }

    /// The first parameter.
    pub fn times(self) -> Vec<OffsetDateTime> {
        self.times
    }

    fn within(&mut self, piece: Window) -> String {
        let from = self.times.len() + 1;
        self.times.extend([piece.from, piece.to]);
        format!("at >= $1[{from}] and at < $1[{}]", from + 1)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_window_of_the_same_shape_has_the_same_text() {
        let text = |to: OffsetDateTime| {
            let mut tiles = Tiles::default();
            let window = Window { from: to - time::Duration::days(30), to };
            (
                tiles.union(window, |grain| format!("select from total_{} where true", grain.name())),
                tiles.times(),
            )
        };
        let (earlier, later) = (text(datetime!(2026-11-29 10:09 UTC)), text(datetime!(2026-11-30 11:10 UTC)));
        assert_eq!(earlier.0, later.0);
        assert_ne!(earlier.1, later.1);
        assert_eq!(earlier.1.len(), 10);
    }
}
