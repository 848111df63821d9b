import { mount } from "svelte";
import Tasks from "./Tasks.svelte";

mount(Tasks, { target: document.getElementById("app") });
