import { Route, Switch } from "wouter-preact";
import { OperationHistory } from "./operation-history.tsx";
import { OperationPage } from "./operation-page.tsx";

/** Running and past operations; `/operations/ID` shows one in full. */
export function Operations() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <OperationPage id={id} key={id} />}</Route>
      <Route>
        <OperationHistory />
      </Route>
    </Switch>
  );
}
