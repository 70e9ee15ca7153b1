// Command lvmd-client calls a gRPC server on a unix socket the way the clients of the original lvmd do: a
// custom dialer and the socket's path as the target. grpc-go 1.32, which they use, then sends the raw path as
// ":authority"; newer versions send it percent-encoded.
//
//	lvmd-client SOCKET DESCRIPTORS < calls > results
//
// DESCRIPTORS is a FileDescriptorSet (buf build -o). A call is one JSON line on stdin:
//
//	{"method": "/proto.VGService/GetLVList", "request": {"deviceClass": "ssd"}, "max": 1, "timeoutMs": 5000}
//
// and its result one JSON line on stdout, in the same order, all over one connection:
//
//	{"method": "...", "code": "OK", "message": "", "responses": [{...}]}
//
// A stream is read until it ends or "max" responses have come; then it is cancelled.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

type call struct {
	Method    string          `json:"method"`
	Request   json.RawMessage `json:"request"`
	Max       int             `json:"max"`
	TimeoutMs int             `json:"timeoutMs"`
}

type result struct {
	Method    string            `json:"method"`
	Code      string            `json:"code"`
	Message   string            `json:"message"`
	Responses []json.RawMessage `json:"responses"`
}

// codec is the equivalent of grpc-go's "proto" codec for messages without generated code, in every version of grpc-go.
type codec struct{}

func (codec) Name() string                          { return "proto" }
func (codec) Marshal(v interface{}) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }
func (codec) Unmarshal(data []byte, v interface{}) error {
	return proto.Unmarshal(data, v.(proto.Message))
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: lvmd-client SOCKET DESCRIPTORS")
	}
	files, err := readDescriptors(os.Args[2])
	if err != nil {
		return err
	}
	dialer := func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", address)
	}
	conn, err := grpc.Dial(os.Args[1], grpc.WithInsecure(), grpc.WithContextDialer(dialer))
	if err != nil {
		return err
	}
	defer conn.Close()

	results := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		r, err := c.do(conn, files)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Method, err)
		}
		if err := results.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}

func readDescriptors(path string) (*protoregistry.Files, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(bytes, set); err != nil {
		return nil, err
	}
	return protodesc.NewFiles(set)
}

// do makes the call. It returns an error only for an invalid call description; the server's status is in the result.
func (c call) do(conn *grpc.ClientConn, files *protoregistry.Files) (*result, error) {
	name := strings.ReplaceAll(strings.TrimPrefix(c.Method, "/"), "/", ".")
	found, err := files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil, err
	}
	method, ok := found.(protoreflect.MethodDescriptor)
	if !ok {
		return nil, fmt.Errorf("is not a method")
	}
	request := dynamicpb.NewMessage(method.Input())
	if len(c.Request) > 0 {
		if err := protojson.Unmarshal(c.Request, request); err != nil {
			return nil, err
		}
	}
	timeout := 10 * time.Second
	if c.TimeoutMs > 0 {
		timeout = time.Duration(c.TimeoutMs) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()

	r := &result{Method: c.Method, Responses: []json.RawMessage{}}
	outcome := c.receive(ctx, conn, method, request, func(response proto.Message) error {
		line, err := protojson.Marshal(response)
		r.Responses = append(r.Responses, line)
		return err
	})
	r.Code = status.Code(outcome).String()
	r.Message = status.Convert(outcome).Message()
	return r, nil
}

func (c call) receive(
	ctx context.Context,
	conn *grpc.ClientConn,
	method protoreflect.MethodDescriptor,
	request proto.Message,
	received func(proto.Message) error,
) error {
	if !method.IsStreamingServer() {
		response := dynamicpb.NewMessage(method.Output())
		if err := conn.Invoke(ctx, c.Method, request, response, grpc.ForceCodec(codec{})); err != nil {
			return err
		}
		return received(response)
	}
	description := &grpc.StreamDesc{ServerStreams: true}
	stream, err := conn.NewStream(ctx, description, c.Method, grpc.ForceCodec(codec{}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for count := 0; c.Max == 0 || count < c.Max; count++ {
		response := dynamicpb.NewMessage(method.Output())
		if err := stream.RecvMsg(response); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := received(response); err != nil {
			return err
		}
	}
	return nil
}
