import { Route, Switch } from "wouter-preact";
import { BackupPage } from "./backup-page.tsx";
import { VolumeList } from "./volume-list.tsx";
import { VolumePage } from "./volume-page.tsx";

/** LVM volumes and their backups: the lists, or one of them. */
export function Volumes() {
  return (
    <Switch>
      <Route path="/backups/:id">{({ id }) => <BackupPage id={id} key={id} />}</Route>
      <Route path="/:group/:name">
        {({ group, name }) => <VolumePage group={group} name={name} key={`${group}/${name}`} />}
      </Route>
      <Route>
        <VolumeList />
      </Route>
    </Switch>
  );
}
