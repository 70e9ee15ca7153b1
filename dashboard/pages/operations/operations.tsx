import "./operations.css";
import { Route, Switch } from "wouter-preact";
import { OperationHistory } from "./operation-history.tsx";
import { OperationPage } from "./operation-page.tsx";
import { Unsettled } from "./unsettled.tsx";

/** What is under way, and what was; one operation with all that is known of it at `/operations/ID`. */
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
