import { Route, Switch } from "wouter-preact";
import { BackupPage } from "./backup-page.tsx";
import { Overview } from "./overview.tsx";
import { VolumePage } from "./volume-page.tsx";

/** LVM volumes and their backups: the lists, or one of them. */
export function Volumes() {
  return (
    <Switch>
      <Route path="/backups/:id">{({ id }) => <BackupPage id={id} key={id} />}</Route>
      <Route path="/of/:deviceClass/:name">
        {({ deviceClass, name }) => (
          <VolumePage deviceClass={deviceClass} name={name} key={`${deviceClass}/${name}`} />
        )}
      </Route>
      <Route>
        <Overview />
      </Route>
    </Switch>
  );
}
