import { Route, Switch } from "wouter-preact";
import { ClusterList } from "./cluster-list.tsx";
import { ClusterPage } from "./cluster-page.tsx";

/** Kubernetes clusters on MAAS machines: the list, or one cluster. */
export function Clusters() {
  return (
    <Switch>
      <Route path="/:name">{({ name }) => <ClusterPage name={name} key={name} />}</Route>
      <Route>
        <ClusterList />
      </Route>
    </Switch>
  );
}
