import { render } from "preact";
import { App } from "./app.tsx";
import { resourceKinds } from "./layout/resource-kinds.ts";
import { addKinds } from "./resources/kinds.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/layout.css";
import "./style/table.css";
import "./style/panels.css";
import "./style/log.css";
import "./style/charts.css";
import "./style/operations.css";

addKinds(resourceKinds);
const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
}
