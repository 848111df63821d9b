import * as virtual from "@tanstack/virtual-core";

window.virtual = virtual;
