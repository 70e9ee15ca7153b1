// A program with the part of kube-vip's behaviour that the gateway uses: configured by the variables of kube-vip's static pod,
// one control plane machine, elected with a lease, holds the cluster's address and announces it by ARP. It replaces kube-vip
// where that is not available.
package main

import (
	"context"
	"encoding/binary"
	"log"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	node := os.Getenv("vip_nodename")
	link, err := uplink()
	check(err)
	address, err := netlink.ParseAddr(os.Getenv("address") + "/" + os.Getenv("vip_subnet"))
	check(err)
	// The address may be left over from a predecessor that was killed.
	_ = netlink.AddrDel(link, address)
	config, err := clientcmd.BuildConfigFromFlags("https://kubernetes:"+os.Getenv("port"), "/etc/kubernetes/admin.conf")
	check(err)
	config.Timeout = 3 * time.Second
	client, err := kubernetes.NewForConfig(config)
	check(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: os.Getenv("vip_leasename"), Namespace: os.Getenv("cp_namespace")},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: node},
		},
		LeaseDuration:   seconds("vip_leaseduration"),
		RenewDeadline:   seconds("vip_renewdeadline"),
		RetryPeriod:     seconds("vip_retryperiod"),
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { hold(ctx, link, address) },
			OnStoppedLeading: func() {
				_ = netlink.AddrDel(link, address)
				os.Exit(1)
			},
		},
	})
}

func hold(ctx context.Context, link netlink.Link, address *netlink.Addr) {
	check(netlink.AddrReplace(link, address))
	log.Printf("holding %s on %s", address.IP, link.Attrs().Name)
	for ctx.Err() == nil {
		check(announce(link, address.IP.To4()))
		time.Sleep(3 * time.Second)
	}
}

// uplink is the link of the default route.
func uplink() (netlink.Link, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, err
	}
	for _, route := range routes {
		if route.Dst == nil || route.Dst.IP.IsUnspecified() {
			return netlink.LinkByIndex(route.LinkIndex)
		}
	}
	return nil, syscall.ENETUNREACH
}

// announce broadcasts a gratuitous ARP reply (RFC 5227, section 3).
func announce(link netlink.Link, ip net.IP) error {
	const arp = 0x0806
	protocol := uint16(arp>>8 | arp&0xff<<8)
	socket, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_DGRAM, int(protocol))
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	own := link.Attrs().HardwareAddr
	broadcast := net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	packet := []byte{0, 1, 8, 0, 6, 4}
	packet = binary.BigEndian.AppendUint16(packet, 2)
	packet = append(append(packet, own...), ip...)
	packet = append(append(packet, broadcast...), ip...)
	to := &syscall.SockaddrLinklayer{Protocol: protocol, Ifindex: link.Attrs().Index, Halen: 6}
	copy(to.Addr[:], broadcast)
	return syscall.Sendto(socket, packet, 0, to)
}

func seconds(name string) time.Duration {
	value, err := strconv.Atoi(os.Getenv(name))
	check(err)
	return time.Duration(value) * time.Second
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
