import { render } from "preact";
import { App } from "./app.tsx";
import "./style/base.css";
import "./style/layout.css";
import "./style/parts.css";

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
}
