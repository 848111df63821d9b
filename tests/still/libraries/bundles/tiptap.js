import { Editor } from "@tiptap/core";
import StarterKit from "@tiptap/starter-kit";

window.tiptap = { Editor, StarterKit };
