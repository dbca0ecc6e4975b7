//! The shared cache through the real gateway, before an origin that writes its answers byte by byte: RFC 9111, 5861, 8246,
//! 9211, 9213 and what RFC 9110 says of preconditions and ranges.

mod broken;
mod cache_status;
mod callers;
mod collapse;
mod credentials;
mod directives;
mod freshness;
mod head;
mod headers;
mod invalidation;
mod origin;
mod preconditions;
mod purge;
mod ranges;
mod requests;
mod stale;
mod storing;
mod targeted;
mod validation;
mod vary;
mod world;
