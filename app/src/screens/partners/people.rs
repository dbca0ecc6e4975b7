//! Who signs in for a partner, and links for them.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::domain::moment::{date, until};
use crate::partners::Person;
use crate::widgets::field::Field;

#[component]
pub fn People(people: Vec<Person>, invited: Vec<Person>, slug: String, now: OffsetDateTime) -> impl IntoView {
    let here = format!("/ops/partners/{slug}");
    let is_empty = people.is_empty() && invited.is_empty();
    let people: Vec<_> = people.into_iter().map(|person| row(person, here.clone())).collect();
    let invited: Vec<_> = invited
        .into_iter()
        .map(|Person { email, at }| {
            view! {
                <tr>
                    <th scope="row">{email}</th>
                    <td><span class="tag">{format!("invited, link ends {}", until(at, now))}</span></td>
                    <td></td>
                </tr>
            }
        })
        .collect();
    let table = match is_empty {
        true => view! { <p class="hint">"Nobody signs in for this partner yet."</p> }.into_any(),
        false => view! {
            <table class="list">
                <thead>
                    <tr>
                        <th scope="col">"E-mail"</th>
                        <th scope="col">"Account"</th>
                        <th scope="col"><span class="visually-hidden">"What to do"</span></th>
                    </tr>
                </thead>
                <tbody>{people}{invited}</tbody>
            </table>
        }
        .into_any(),
    };
    view! {
        <section aria-labelledby="people-title">
            <h2 id="people-title">"People"</h2>
            {table}
            <details class="ask below">
                <summary>"Invite a person"</summary>
                <form method="post" action=here>
                    <input type="hidden" name="act" value="invite"/>
                    <Field name="email" label="E-mail" kind="email" autocomplete="off"
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
