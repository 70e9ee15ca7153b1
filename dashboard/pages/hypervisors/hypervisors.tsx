import { Route, Switch } from "wouter-preact";
import { MachineList } from "./machine-list.tsx";
import { MachinePage } from "./machine-page.tsx";

/** Machines and their storage pool: the list, or one machine. */
export function Hypervisors() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <MachinePage id={id} key={id} />}</Route>
      <Route>
        <MachineList />
      </Route>
    </Switch>
  );
}
