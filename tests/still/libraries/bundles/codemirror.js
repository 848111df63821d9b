import { basicSetup, EditorView } from "codemirror";
import { javascript } from "@codemirror/lang-javascript";

window.codemirror = { basicSetup, EditorView, javascript };
