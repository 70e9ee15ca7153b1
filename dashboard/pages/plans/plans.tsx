import { Route, Switch } from "wouter-preact";
import { PlanList } from "./plan-list.tsx";
import { PlanPage } from "./plan-page.tsx";

/** Saved plans; `/plans/ID` shows one in full. */
export function Plans() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <PlanPage id={id} key={id} />}</Route>
      <Route>
        <PlanList />
      </Route>
    </Switch>
  );
}
