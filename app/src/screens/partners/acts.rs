//! A partner's plan, its access and its keys, each with what can be done about it.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::domain::api_key::{ApiKey, KeyState};
use crate::domain::moment::{date, expiry};
use crate::domain::numbers::grouped;
use crate::keys::Allowance;
use crate::partners::{Partner, Plan};
use crate::widgets::choice::Choice;
use crate::widgets::table::Table;

#[component]
pub fn PlanAndAccess(partner: Partner, plans: Vec<Plan>) -> impl IntoView {
    let Partner { slug, name, plan, suspended, created_at, .. } = partner;
    let here = format!("/ops/partners/{slug}");
    let options = plans.into_iter().map(|plan| (plan.name.clone(), plan.words())).collect();
    let access = match suspended {
        true => view! {
            <form method="post" action=here.clone()>
                <input type="hidden" name="act" value="resume"/>
                <button class="quiet">"Let it in again"</button>
            </form>
        }
        .into_any(),
        false => view! {
            <details class="ask">
                <summary>"Suspend"</summary>
                <form method="post" action=here.clone()>
                    <input type="hidden" name="act" value="suspend"/>
                    <p>"All its requests are refused within a second, until you let it in again."</p>
                    <button>"Suspend "{slug}</button>
                </form>
            </details>
        }
        .into_any(),
    };
    view! {
        <section aria-labelledby="plan-title">
            <h2 id="plan-title">"Who it is"</h2>
            <dl class="facts">
                <dt>"Name"</dt>
                <dd>{name}{suspended.then(|| view! { <span class="tag bad">"suspended"</span> })}</dd>
                <dt>"Since"</dt><dd>{date(created_at)}</dd>
                <dt>"Plan"</dt>
                <dd>
                    {plan.clone()}
                    <details class="ask">
                        <summary>"Change plan"</summary>
                        <form method="post" action=here>
                            <input type="hidden" name="act" value="plan"/>
                            <Choice name="plan" label="Plan" options=options chosen=plan/>
                            <button>"Change plan"</button>
                        </form>
                    </details>
                </dd>
                <dt>"Access"</dt><dd>{access}</dd>
            </dl>
        </section>
    }
}

#[component]
pub fn Keys(keys: Vec<ApiKey>, allowance: Allowance, slug: String, now: OffsetDateTime) -> impl IntoView {
    let said = format!("{} of {} in use", grouped(allowance.used as u64), grouped(allowance.max as u64));
    let rows: Vec<_> = keys.into_iter().map(|key| row(key, &slug, now)).collect();
    let columns = vec![
        ("", "Name"),
        ("", "Key"),
        ("", "Created"),
        ("", "Expires"),
        ("", "State"),
        ("unseen", "What to do"),
    ];
    let none =
        view! { <p class="hint">"No key yet. Its people create keys on "<code>"/portal/keys"</code>"."</p> };
    view! {
        <section aria-labelledby="keys-title">
            <h2 id="keys-title">"Keys"<small>{said}</small></h2>
            <Table columns=columns rows=rows otherwise=none.into_any()/>
        </section>
    }
}

fn row(key: ApiKey, slug: &str, now: OffsetDateTime) -> impl IntoView + use<> {
    let class = match key.state {
        KeyState::Active => "tag",
        KeyState::Expiring | KeyState::Rotating => "tag warn",
        KeyState::Expired | KeyState::Revoked => "tag soft",
    };
    let (here, id) = (format!("/ops/partners/{slug}"), key.id.to_string());
    let ends = key.state.is_honoured().then(|| {
        view! {
            <details class="ask">
                <summary>"Revoke"<span class="visually-hidden">{format!(" {}", key.name)}</span></summary>
                <form method="post" action=here>
                    <input type="hidden" name="act" value="revoke"/>
                    <input type="hidden" name="key" value=id/>
                    <p>"Whoever calls with it is refused from now on. This cannot be undone."</p>
                    <button>"Revoke this key"</button>
                </form>
            </details>
        }
    });
    view! {
        <tr id=format!("key-{}", key.id)>
            <th scope="row">{key.name.clone()}</th>
            <td data-label="Key"><code>{format!("{}…", key.start)}</code></td>
            <td data-label="Created">{date(key.created_at)}</td>
            <td data-label="Expires">{expiry(key.expires_at, now)}</td>
            <td data-label="State"><span class=class>{key.state.word()}</span></td>
            <td class="r">{ends}</td>
        </tr>
    }
}
