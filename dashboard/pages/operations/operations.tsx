import "./operations.css";
import { Route, Switch } from "wouter-preact";
import { OperationHistory } from "./operation-history.tsx";
import { OperationPage } from "./operation-page.tsx";
import { Unsettled } from "./unsettled.tsx";

/** Running and past operations; `/operations/ID` shows one in full. */
export function Operations() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <OperationPage id={id} />}</Route>
      <Route>
        <h1>Operations</h1>
        <Unsettled />
        <OperationHistory />
      </Route>
    </Switch>
  );
}
