import { Route, Switch } from "wouter-preact";
import { PodList } from "./pod-list.tsx";
import { PodPage } from "./pod-page.tsx";

/** The pods and images of this host: the lists, or one pod. */
export function Pods() {
  return (
    <Switch>
      <Route path="/:id">{({ id }) => <PodPage id={id} key={id} />}</Route>
      <Route>
        <PodList />
      </Route>
    </Switch>
  );
}
