import * as lexical from "lexical";
import * as text from "@lexical/rich-text";
import * as history from "@lexical/history";

window.lexical = { ...lexical, ...text, ...history };
