// Every size, count and time that bounds what others can make us do, with its unit and its reason.
// A limit that a user may change has its default here and its key in the configuration schema.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace relay::limits {

using namespace std::chrono_literals;

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

// JSON. Depth bounds the stack of every recursive walk; 64 is twice what real schemas need.
inline constexpr std::size_t kJsonDepth = 64;
inline constexpr std::size_t kMessageBytes = 8 * kMiB;  // one JSON-RPC message, from anyone
inline constexpr std::size_t kBatchMessages = 64;       // 2025-03-26 batches
inline constexpr std::size_t kIdBytes = 512;            // a JSON-RPC id or progress token

// HTTP server.
inline constexpr std::size_t kHttpHeaderBytes = 32 * kKiB;
inline constexpr std::size_t kHttpBodyBytes = kMessageBytes;
inline constexpr std::size_t kConnections = 4096;
inline constexpr std::size_t kConnectionsPerAddress = 4096;  // loopback is one address: many local clients
inline constexpr auto kHeaderTimeout = 10s;  // slow headers are an attack or a dead peer
inline constexpr auto kBodyTimeout = 60s;
inline constexpr auto kIdleTimeout = 75s;  // a bit above what common clients keep connections for
inline constexpr auto kWriteTimeout = 60s;
inline constexpr auto kSseKeepAlive = 15s;
inline constexpr auto kShutdownGrace = 30s;

// Child processes.
inline constexpr auto kTermGrace = 5s;  // between SIGTERM and SIGKILL
inline constexpr std::size_t kLineBytes = kMessageBytes;  // one line of newline-delimited JSON
inline constexpr std::size_t kStderrTailBytes = 16 * kKiB;

// MCP server.
inline constexpr std::size_t kSessions = 1024;  // legacy sessions alive at once
inline constexpr auto kSessionIdle = 30min;
inline constexpr std::size_t kRequestsPerSession = 128;  // in flight, per legacy session or stdio connection
inline constexpr std::size_t kSubscriptionsPerClient = 256;
inline constexpr std::size_t kListenStreams = 1024;
inline constexpr std::size_t kReplayEvents = 256;  // per SSE stream, for Last-Event-ID
inline constexpr std::size_t kReplayBytes = 1 * kMiB;
inline constexpr auto kReplayKept = 5min;
inline constexpr auto kSseRetry = 1s;
inline constexpr std::size_t kPageItems = 100;  // items a list page has at most
inline constexpr std::size_t kParkedCalls = 256;  // modern calls that wait for input_required answers
inline constexpr auto kParkedFor = 10min;
inline constexpr int kInputRounds = 16;
inline constexpr std::size_t kTasks = 1024;
inline constexpr auto kTaskTtlDefault = 1h;
inline constexpr auto kTaskTtlMax = 24h;
inline constexpr auto kTaskPoll = 1s;
inline constexpr std::size_t kCompletionValues = 100;  // the protocol's own maximum
inline constexpr std::size_t kUriBytes = 8 * kKiB;

// Results for a model.
inline constexpr std::size_t kResultBytes = 64 * kKiB;
inline constexpr std::size_t kKeptResults = 256;
inline constexpr std::size_t kKeptResultBytes = 32 * kMiB;  // one result
inline constexpr std::size_t kKeptBytes = 256 * kMiB;       // all of them
inline constexpr auto kResultKept = 1h;

// Capsules. The sizes are the format's own (docs/formats/capsule.md); the rest bounds what a manifest can say.
inline constexpr std::size_t kCapsuleCodeBytes = 2 * kMiB;
inline constexpr std::size_t kCapsuleDepsBytes = 20 * kMiB;
inline constexpr std::size_t kCapsuleBytes = 22 * kMiB;
inline constexpr std::size_t kManifestBytes = 1 * kMiB;  // argv and env of one run fit; a kernel takes 2 MiB
inline constexpr std::size_t kManifestArgs = 4096;
inline constexpr std::size_t kManifestPathBytes = 1024;
inline constexpr auto kCapsuleKept = 7 * 24h;
inline constexpr std::uint64_t kCapsuleStoreBytes = 1024ULL * kMiB;
inline constexpr std::size_t kSignaturesKept = 1024;  // JWS of manifests signed lately: about 300 bytes each
inline constexpr std::size_t kDepsInMemoryBytes = 64 * kMiB;  // layers of dependencies kept ready
inline constexpr auto kInstallTimeout = 180s;  // npm or pip, with a cold cache and a slow line
inline constexpr auto kBundleTimeout = 60s;
inline constexpr std::size_t kZipEntries = 20'000;    // the largest wheels have about 8,000
inline constexpr std::size_t kZipNameBytes = 512;
inline constexpr std::size_t kZipUnpackedBytes = 256 * kMiB;  // all entries of one archive together

}  // namespace relay::limits
