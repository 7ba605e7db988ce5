// dom.js - makes elements.
//
// All text goes through text nodes, never through HTML: translations and stored
// pairs are texts of others.

export const $ = (id) => document.getElementById(id);

// el("button", { class: "quiet", onclick: f }, "Edit") makes an element.
// Attributes that are null, undefined or false are left out.
export function el(tag, attributes = {}, ...children)
{
    const node = document.createElement(tag);

    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((c) => c !== null && c !== undefined));
    return node;
}

// An error over the page; null removes it.
export function showError(message)
{
    $("alert").textContent = message ?? "";
    $("alert").hidden = !message;
}

// A live region speaks only if its text changes, so an equal text is cleared
// first.
export function say(id, text)
{
    if ($(id).textContent === text) $(id).textContent = "";
    $(id).textContent = text;
}

// Saves a file under this name.
export function saveFile(blob, name)
{
    const link = el("a", { href: URL.createObjectURL(blob), download: name });

    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Calls onFile with a file that is dropped on the element. The class
// "dropping" is set while one is over it.
export function acceptDrop(node, onFile)
{
    const over = (e) => {
        if (!e.dataTransfer.types.includes("Files")) return;
        e.preventDefault();
        node.classList.add("dropping");
    };

    node.addEventListener("dragenter", over);
    node.addEventListener("dragover", over);
    node.addEventListener("dragleave", (e) => {
        if (!node.contains(e.relatedTarget)) node.classList.remove("dropping");
    });
    node.addEventListener("drop", (e) => {
        node.classList.remove("dropping");
        if (!e.dataTransfer.files.length) return;
        e.preventDefault();
        onFile(e.dataTransfer.files[0]);
    });
}
