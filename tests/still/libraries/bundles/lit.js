import { LitElement, css, html } from "lit";

class ShoppingList extends LitElement {
  static properties = { items: { state: true }, wanted: { state: true } };
  static styles = css`
    li.done {
      text-decoration: line-through;
    }
  `;

  constructor() {
    super();
    this.items = [];
    this.wanted = "";
  }

  updated(changed) {
    window.say(`updated.${[...changed.keys()].join(",")}`);
  }

  add() {
    this.items = [...this.items, { name: this.wanted, done: false }];
    this.wanted = "";
    this.updateComplete.then(() => window.say(`complete.${this.items.length}`));
  }

  turn(at) {
    this.items = this.items.map((item, i) => (i === at ? { ...item, done: !item.done } : item));
  }

  render() {
    return html`
      <input aria-label="wanted" .value=${this.wanted} @input=${(e) => (this.wanted = e.target.value)} />
      <button id="add" ?disabled=${!this.wanted} @click=${this.add}>Add</button>
      <ul>
        ${this.items.map(
          ({ name, done }, i) =>
            html`<li class=${done ? "done" : "open"} @click=${() => this.turn(i)}>${name}</li>`,
        )}
      </ul>
      <slot></slot>
    `;
  }
}

customElements.define("shopping-list", ShoppingList);
