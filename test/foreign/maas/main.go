// Does with a MAAS what Juju and Terraform do, using their libraries, and prints the result of each step as a line of JSON.
// gomaasapi sends multipart/form-data and validates every machine, interface, disk, subnet and pool against a schema.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"github.com/canonical/gomaasclient/client"
	"github.com/canonical/gomaasclient/entity"
	"github.com/juju/gomaasapi/v2"
)

type outcome struct {
	Step   string `json:"step"`
	Error  string `json:"error,omitempty"`
	Result any    `json:"result,omitempty"`
}

func tell(step string, result any, err error) {
	told := outcome{Step: step, Result: result}
	if err != nil {
		told = outcome{Step: step, Error: err.Error()}
	}
	line, err := json.Marshal(told)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func asJuju(url string, apiKey string) {
	controller, err := gomaasapi.NewController(gomaasapi.ControllerArgs{BaseURL: url, APIKey: apiKey})
	tell("juju connect", nil, err)
	if err != nil {
		return
	}
	zones, err := controller.Zones()
	tell("juju zones", len(zones), err)
	tags, err := controller.Tags()
	tell("juju tags", len(tags), err)
	domains, err := controller.Domains()
	tell("juju domains", len(domains), err)
	images, err := controller.BootResources()
	tell("juju images", len(images), err)
	machines, err := controller.Machines(gomaasapi.MachinesArgs{})
	tell("juju machines", len(machines), err)

	_, _, err = controller.AllocateMachine(gomaasapi.AllocateMachineArgs{MinMemory: 1 << 30})
	tell("juju no match", gomaasapi.IsNoMatchError(err), nil)
	wanted := gomaasapi.AllocateMachineArgs{Tags: []string{"gpu", "standard"}, Pool: "kube", AgentName: "juju", DryRun: true}
	machine, _, err := controller.AllocateMachine(wanted)
	tell("juju dry run", nil, err)
	wanted.DryRun = false
	machine, _, err = controller.AllocateMachine(wanted)
	tell("juju allocate", nil, err)
	if err != nil {
		return
	}
	tell("juju annotate", nil, machine.SetOwnerData(map[string]string{"kept": "yes"}))
	tell("juju owner data", machine.OwnerData(), nil)
	data := base64.StdEncoding.EncodeToString([]byte("#cloud-config\n"))
	err = machine.Start(gomaasapi.StartArgs{DistroSeries: "jammy", UserData: data})
	tell("juju start", machine.StatusName(), err)
	err = machine.Start(gomaasapi.StartArgs{DistroSeries: "jammy"})
	tell("juju start twice", gomaasapi.IsBadRequestError(err), nil)
	found, err := controller.Machines(gomaasapi.MachinesArgs{AgentName: "juju"})
	addresses := []string{}
	for _, each := range found {
		addresses = append(addresses, each.IPAddresses()...)
	}
	tell("juju addresses", addresses, err)
	ids := []string{machine.SystemID()}
	tell("juju release", nil, controller.ReleaseMachines(gomaasapi.ReleaseMachinesArgs{SystemIDs: ids, Comment: "done"}))
	err = controller.ReleaseMachines(gomaasapi.ReleaseMachinesArgs{SystemIDs: []string{"zzzzzz"}})
	tell("juju release unknown", gomaasapi.IsBadRequestError(err), nil)
}

func asTerraform(url string, apiKey string) {
	maas, err := client.GetClient(url, apiKey, "2.0")
	tell("terraform connect", nil, err)
	if err != nil {
		return
	}
	user, err := maas.Users.Whoami()
	tell("terraform whoami", user.UserName, err)
	pools, err := maas.ResourcePools.Get()
	tell("terraform pools", len(pools), err)
	machine, err := maas.Machines.Allocate(&entity.MachineAllocateParams{Tags: []string{"standard"}, AgentName: "terraform"})
	tell("terraform allocate", machine.Owner, err)
	id := machine.SystemID
	machine, err = maas.Machine.Deploy(id, &entity.MachineDeployParams{DistroSeries: "jammy"})
	tell("terraform deploy", machine.StatusName, err)
	machine, err = maas.Machine.Get(id)
	tell("terraform get", machine.IPAddresses, err)
	machine, err = maas.Machine.Lock(id, "mine")
	tell("terraform lock", machine.Locked, err)
	_, err = maas.Machine.Release(id, &entity.MachineReleaseParams{Comment: "not yet"})
	tell("terraform release locked", err != nil, nil)
	machine, err = maas.Machine.Unlock(id, "")
	tell("terraform unlock", machine.Locked, err)
	_, err = maas.Machine.Release(id, &entity.MachineReleaseParams{Comment: "done"})
	tell("terraform release", nil, err)
	machine, err = maas.Machine.Get(id)
	tell("terraform released", machine.StatusName, err)
	events, err := maas.Events.Get(&entity.EventParams{ID: id, Limit: "2"})
	tell("terraform events", events.Count, err)
	address, err := maas.IPAddresses.Reserve(&entity.IPAddressesParams{Subnet: "10.20.0.0/24"})
	tell("terraform reserve", address.IP, err)
	tell("terraform give back", nil, maas.IPAddresses.Release(&entity.IPAddressesParams{IP: address.IP.String()}))
}

func main() {
	asJuju(os.Args[1], os.Args[2])
	asTerraform(os.Args[1], os.Args[2])
	_, err := gomaasapi.NewController(gomaasapi.ControllerArgs{BaseURL: os.Args[1], APIKey: "a:b:c"})
	tell("wrong key", gomaasapi.IsPermissionError(err), nil)
}
