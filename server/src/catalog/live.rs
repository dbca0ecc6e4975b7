//! The snapshot in force, and the task that keeps it current.

use std::sync::Arc;

use arc_swap::ArcSwap;
use sqlx::PgPool;

use super::{Catalog, load::load};

/// Read by every request, replaced when the database's catalog changes.
#[derive(Debug)]
pub struct Live {
    current: ArcSwap<Catalog>,
}

impl Live {
    pub async fn load(db: &PgPool) -> sqlx::Result<Live> {
        let catalog = load(db, &Catalog::default()).await?;
        Ok(Live { current: ArcSwap::from_pointee(catalog) })
    }

    pub fn now(&self) -> arc_swap::Guard<Arc<Catalog>> {
        self.current.load()
    }

    /// Reads the catalog anew and puts it in force.
    pub async fn reload(&self, db: &PgPool) -> sqlx::Result<()> {
        let before = self.current.load_full();
        let catalog = load(db, &before).await?;
        self.current.store(Arc::new(catalog));
        Ok(())
    }
}
