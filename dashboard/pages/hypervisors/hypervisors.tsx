import { DomainNotice } from "../../parts/domain-notice.tsx";
import { RunningOperations } from "../../parts/operation-list.tsx";
import { Inventory } from "./inventory.tsx";
import { StoragePoolCard } from "./storage-pool.tsx";

/** The VMs that can be started and stopped here, the storage they share, and the running operations of both. */
export function Hypervisors() {
  return (
    <>
      <h1>Hypervisors</h1>
      <DomainNotice domain="hypervisors" />
      <RunningOperations kinds={["hypervisors", "storagePool"]} />
      <Inventory />
      <StoragePoolCard />
    </>
  );
}
