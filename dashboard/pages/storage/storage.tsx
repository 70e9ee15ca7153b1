import { Route, Switch } from "wouter-preact";
import { CephPage } from "./ceph-page.tsx";
import { HostPage } from "./host-page.tsx";
import { OsdPage } from "./osd-page.tsx";
import { PoolPage } from "./pool-page.tsx";

/** A Ceph cluster, or one of its OSDs, hosts or pools. */
export function Storage() {
  return (
    <Switch>
      <Route path="/osds/:id">{({ id }) => <OsdPage id={id} key={id} />}</Route>
      <Route path="/hosts/:name">{({ name }) => <HostPage name={name} key={name} />}</Route>
      <Route path="/pools/:name">{({ name }) => <PoolPage name={name} key={name} />}</Route>
      <Route>
        <CephPage />
      </Route>
    </Switch>
  );
}
