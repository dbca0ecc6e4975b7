//! Who signs in for a partner, and links for them.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::domain::moment::{date, until};
use crate::partners::Person;
use crate::posted::Posted;
use crate::widgets::field::Field;
use crate::widgets::table::Table;

#[component]
pub fn People(
    people: Vec<Person>,
    invited: Vec<Person>,
    slug: String,
    now: OffsetDateTime,
    /// Of a form that was refused.
    typed: Posted,
) -> impl IntoView {
    let is_again = typed.get("act") == "invite";
    let email = if is_again { typed.get("email") } else { String::new() };
    let here = format!("/ops/partners/{slug}");
    let guest = |Person { email, at }: Person| {
        view! {
            <tr>
                <th scope="row">{email}</th>
                <td><span class="tag">{format!("invited, link ends {}", until(at, now))}</span></td>
                <td></td>
            </tr>
        }
        .into_any()
    };
    let people = people.into_iter().map(|person| row(person, here.clone()).into_any());
    let rows: Vec<_> = people.chain(invited.into_iter().map(guest)).collect();
    let columns = vec![("", "E-mail"), ("", "Account"), ("unseen", "What to do")];
    let none = view! { <p class="hint">"Nobody signs in for this partner yet."</p> };
    view! {
        <section aria-labelledby="people-title">
            <h2 id="people-title">"People"</h2>
            <Table columns=columns rows=rows otherwise=none.into_any()/>
            <details class="ask below" open=is_again>
                <summary>"Invite a person"</summary>
                <form method="post" action=here>
                    <input type="hidden" name="act" value="invite"/>
                    <Field name="email" label="E-mail" kind="email" autocomplete="off" value=email
                        hint="You get a link to hand on. It works once, within 72 hours.".to_owned()/>
                    <button>"Make a link"</button>
                </form>
            </details>
        </section>
    }
}

fn row(person: Person, here: String) -> impl IntoView {
    let Person { email, at } = person;
    view! {
        <tr>
            <th scope="row">{email.clone()}</th>
            <td>{format!("since {}", date(at))}</td>
            <td class="r">
                <form method="post" action=here>
                    <input type="hidden" name="act" value="reset"/>
                    <input type="hidden" name="email" value=email.clone()/>
                    <button class="quiet small">"Password link"<span class="visually-hidden">{format!(" for {email}")}</span></button>
                </form>
            </td>
        </tr>
    }
}
