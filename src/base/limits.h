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
inline constexpr auto kHeaderTimeout = 10s;                  // slow headers are an attack or a dead peer
inline constexpr auto kBodyTimeout = 60s;
inline constexpr auto kIdleTimeout = 75s;  // a bit above what common clients keep connections for
inline constexpr auto kWriteTimeout = 60s;
inline constexpr auto kSseKeepAlive = 15s;
inline constexpr auto kShutdownGrace = 30s;
inline constexpr auto kGoodbye =
    std::chrono::milliseconds(100);  // for streams to say their last word, and calls to unwind

// HTTP client.
inline constexpr auto kConnectTimeout = 10s;
inline constexpr auto kClientIdleTimeout = 60s;
inline constexpr std::size_t kClientHeaderBytes = 64 * kKiB;
inline constexpr std::size_t kClientBufferBytes =
    256 * kKiB;  // kept per transfer before the peer is slowed down
inline constexpr long kPooledConnections = 64;

// Child processes.
inline constexpr auto kTermGrace = 5s;                    // between SIGTERM and SIGKILL
inline constexpr std::size_t kLineBytes = kMessageBytes;  // one line of newline-delimited JSON
inline constexpr std::size_t kStderrTailBytes = 16 * kKiB;

// MCP server.
inline constexpr std::size_t kSessions = 1024;  // legacy sessions alive at once
inline constexpr auto kSessionIdle = 30min;
inline constexpr auto kSessionSafe = 5min;               // since its last use no new session can displace it
inline constexpr std::size_t kRequestsPerSession = 128;  // in flight, per legacy session or stdio connection
inline constexpr std::size_t kSubscriptionsPerClient = 256;
inline constexpr std::size_t kListenStreams = 1024;
inline constexpr std::size_t kReplayEvents = 256;  // per SSE stream, for Last-Event-ID
inline constexpr std::size_t kReplayBytes = 1 * kMiB;
inline constexpr auto kReplayKept = 5min;
inline constexpr auto kSseRetry = 1s;
inline constexpr std::size_t kPageItems = 100;    // items a list page has at most
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

// Runs. Time, memory and output are defaults that a policy lowers or a caller chooses below the policy's.
inline constexpr auto kRunTimeout = std::chrono::milliseconds(60'000);
inline constexpr std::size_t kRunMemoryMb = 256;
inline constexpr std::size_t kRunOutputBytes = 1 * kMiB;
inline constexpr std::size_t kRunCalls = 256;  // host calls of one run in flight; more wait in the socket
inline constexpr std::size_t kRunCallBytes = 64 * kMiB;   // their bodies together
inline constexpr std::size_t kRunErrorBytes = 16 * kKiB;  // message and stack of what a guest threw, each
inline constexpr std::size_t kRunArtifacts = 256;         // files under /out that a result lists
inline constexpr std::size_t kDisplayBytes = 8 * kMiB;    // of display() in one run, as the answer holds it
inline constexpr std::size_t kStreamedBytes =
    8 * kKiB;  // of one piece of output, while the run goes on; the result has it whole
inline constexpr std::size_t kQueueDepth = 100;
inline constexpr std::size_t kRunsAlive =
    64;  // that compute or wait; more where maxConcurrentRuns is more. Each holds a process and its memory
inline constexpr std::size_t kRunsAlivePerClient = 32;  // so that one client's sleepers leave room for others
inline constexpr auto kQueueWait = 5min;
inline constexpr std::size_t kReadyChildren = 3;  // per runtime, waiting for a run
inline constexpr auto kZygoteBootMax = 60s;       // without a code cache Pyodide compiles for many seconds
inline constexpr auto kZygotePauseMin = std::chrono::milliseconds(100);  // before a restart; doubles
inline constexpr auto kZygotePauseMax = 5s;
inline constexpr auto kZygoteHealthy = 1s;    // lived so long: the next pause is the shortest again
inline constexpr auto kZygotePing = 1s;       // a zygote that is ready is asked so often whether it lives
inline constexpr int kZygotePingsMissed = 5;  // so many pauses without its answer: it is replaced
inline constexpr auto kExitReport = 2s;       // how long a zygote may take to say how its child ended
inline constexpr std::size_t kGuestSessions = 64;  // kept children, over all clients
inline constexpr std::size_t kGuestSessionsPerClient = 8;
inline constexpr auto kGuestSessionIdle = 15min;
inline constexpr auto kGuestSessionSafe = 2min;  // since its last use no other client can displace it
inline constexpr std::size_t kSessionNameBytes = 64;
inline constexpr std::size_t kRunMemoryBytesMax =
    2048 * kMiB;  // whatever a policy says; counted above the zygote's own
inline constexpr std::size_t kRunStackBytes = 8 * kMiB;
inline constexpr auto kRunCpuMax =
    std::chrono::seconds(24 * 3600);  // a session's whole life; each run has its own budget
inline constexpr std::size_t kFrameBytesToChild = 64 * kMiB;  // a capsule's layers travel in one frame
inline constexpr std::size_t kFrameBytesFromChild =
    16 * kMiB;  // a fetch body or a file that the guest writes
inline constexpr std::size_t kOutputFrameBytes = 64 * kKiB;
inline constexpr std::size_t kControlBytes = 4 * kKiB;  // one message between relay and a zygote
// Capsules. The sizes are the format's own (docs/formats/capsule.md); the rest bounds what a manifest can
// say.
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
inline constexpr auto kInstallTimeout = 180s;                 // npm or pip, with a cold cache and a slow line
inline constexpr auto kBundleTimeout = 60s;
// What npm, pip, esbuild and the compiler of bundles may use in their cages, each call for itself.
inline constexpr std::size_t kToolMemoryBytes = 2048 * kMiB;  // npm with a tree of 2,000 packages takes 1 GiB
inline constexpr std::size_t kToolProcesses =
    256;  // threads count: Node has eleven, esbuild one per processor
inline constexpr std::size_t kToolFileBytes =
    1024 * kMiB;  // one file; layers hold 20 MiB, wheels are below 64 MiB
inline constexpr std::size_t kToolScratchBytes =
    512 * kMiB;  // /tmp and home: pip unpacks one wheel at a time there
inline constexpr std::size_t kToolSettingsBytes =
    1 * kMiB;                             // one npmrc or pip.conf; a list of certificates fits
inline constexpr auto kToolLookup = 30s;  // node or python3 says where it is, through a shim
inline constexpr std::uint64_t kNpmCacheBytes =
    1024ULL * kMiB;                                 // what npm downloaded; above that it starts anew
inline constexpr std::size_t kZipEntries = 20'000;  // the largest wheels have about 8,000
inline constexpr std::size_t kZipNameBytes = 512;
inline constexpr std::size_t kZipUnpackedBytes = 256 * kMiB;  // all entries of one archive together
// Policy.
inline constexpr std::size_t kPendingConfirmations = 256;
inline constexpr std::size_t kApprovalBytes = 256 * kKiB;  // of one file in the state directory's approvals
inline constexpr std::size_t kApprovalTextBytes =
    16 * kKiB;  // of what a waiting call would do, as it is shown
inline constexpr std::size_t kConfigBytes =
    4 * kMiB;                                       // people write it; a larger one is a mistake or an attack
inline constexpr std::size_t kHiddenFiles = 65536;  // of the state directory, looked at for hard links
inline constexpr std::size_t kPatternMemoryBytes =
    8 * kMiB;  // RE2's own budget for one deny or allow pattern

// Audit. The first two are the reference's: a value in a line is short, and what is cut off is still scrubbed
// first.
inline constexpr std::size_t kAuditValueChars = 500;
inline constexpr std::size_t kAuditScanBytes = 16 * kKiB;  // scanned for secrets beyond the cut
inline constexpr std::size_t kAuditArgsBytes = 64 * kKiB;  // all arguments of one line together
inline constexpr std::size_t kAuditLineBytes = 1 * kMiB;   // a reader refuses longer lines
inline constexpr std::size_t kEffectLines = 100;  // different effects of one call that have their own line
inline constexpr std::size_t kAuditBacklogRecords = 8192;  // kept while the disk refuses them
inline constexpr std::size_t kAuditBacklogBytes = 16 * kMiB;
inline constexpr std::size_t kAuditPromptRecords =
    16;  // written by the loop itself; more are worth a change of threads
inline constexpr auto kAuditPromptWrite = 2ms;  // a log that takes longer is written by its thread only
// Files.
inline constexpr std::size_t kPathBytes = 4096;  // as the kernel's PATH_MAX
inline constexpr std::size_t kNameBytes = 255;   // as the kernel's NAME_MAX
inline constexpr std::size_t kLinksFollowed = 40;
inline constexpr std::size_t kListEntries = 10'000;     // entries of one directory that we show
inline constexpr std::size_t kRemoveEntries = 100'000;  // one recursive removal
inline constexpr std::size_t kTreeDepth = 128;  // directories we go down; each holds a descriptor open
inline constexpr std::size_t kFileReadBytes = 16 * kMiB;     // one read
inline constexpr std::size_t kToolReadBytes = 1 * kMiB;      // the read tool, unless told otherwise
inline constexpr std::size_t kLineScanBytes = 1024 * kMiB;   // how far a line is looked for from the start
inline constexpr std::size_t kWorkspaceBytes = 1024 * kMiB;  // /tmp and /out together
inline constexpr std::size_t kWorkspaceFiles = 50'000;
inline constexpr std::size_t kGlobBytes = 4096;
inline constexpr std::size_t kGlobAlternatives = 256;  // what braces may expand to
inline constexpr std::size_t kIgnoreFileBytes = 1 * kMiB;

// Search.
inline constexpr std::size_t kSearchPatternBytes = 4096;
inline constexpr std::size_t kSearchResults = 100;  // unless told otherwise
inline constexpr std::size_t kSearchResultsMax = 10'000;
inline constexpr std::size_t kSearchTotal = 100'000;              // counting stops here
inline constexpr std::size_t kSearchKeptBytes = 16 * kMiB;        // text of matches held while searching
inline constexpr std::size_t kSearchLineBytes = 400;              // text shown of one line
inline constexpr std::size_t kSearchContext = 20;                 // lines before and after
inline constexpr std::size_t kSearchLineBufferBytes = 16 * kMiB;  // a longer line is searched in pieces
inline constexpr std::size_t kSearchThreads = 8;
inline constexpr auto kSearchTime = 30s;  // what was found by then is the answer
inline constexpr std::size_t kWatchedFiles =
    2048;  // by all clients together; a user has 8192 inotify watches or more
inline constexpr std::size_t kListedOutputs = 100;  // more would make every list of resources long
inline constexpr std::size_t kSearchesAtOnce = 4;   // others wait

// The guests' network.
inline constexpr std::size_t kFetchesInFlight = 32;  // per run; more wait their turn
inline constexpr std::size_t kFetchHeaders = 100;    // of one request
inline constexpr auto kFetchTimeout =
    300s;  // one hop, to its last byte; the run's own limit usually comes first

// Upstream servers.
inline constexpr std::size_t kUpstreamServers = 256;
inline constexpr auto kUpstreamStart = 60s;      // npx may have to fetch a package first
inline constexpr auto kUpstreamProbe = 10s;      // an unanswered server/discover means legacy
inline constexpr auto kUpstreamCall = 60s;       // without progress
inline constexpr auto kUpstreamCallMax = 3600s;  // with it
inline constexpr auto kUpstreamIdle = 600s;      // then a stdio server is stopped until somebody needs it
inline constexpr auto kUpstreamStable = 60s;     // ready for so long: earlier failures are forgotten
inline constexpr auto kUpstreamRevive = 60s;     // a server that was given up may be tried again after this
inline constexpr auto kUpstreamFirstDelay = 250ms;  // before the first restart; doubles
inline constexpr int kUpstreamTries = 3;
inline constexpr std::size_t kUpstreamConcurrent = 64;
inline constexpr std::size_t kUpstreamWaiting = 256;   // calls that wait for a place; more are refused
inline constexpr std::size_t kUpstreamSessions = 64;   // connections of one server with sharing "session"
inline constexpr std::size_t kUpstreamPages = 200;     // of one list; a cursor that never ends stops here
inline constexpr std::size_t kUpstreamItems = 10'000;  // of one list
inline constexpr std::size_t kUpstreamToolBytes = 256 * kKiB;  // one tool's description
inline constexpr auto kUpstreamFresh = 300s;           // a list of a legacy server that announces no changes
inline constexpr int kUpstreamRounds = 16;             // input_required answers to one call
inline constexpr std::size_t kUpstreamQuestions = 16;  // open at once on one exchange
inline constexpr std::size_t kUpstreamAskingTools =
    256;                                       // of one connection, known to ask; more take no turns
inline constexpr int kUpstreamReconnects = 5;  // of one interrupted event stream
inline constexpr std::size_t kUpstreamStderrLines = 50;
inline constexpr std::size_t kUpstreamStderrLineBytes = 1 * kKiB;
inline constexpr std::size_t kUpstreamLogBytes = 1 * kMiB;  // one log file; one older is kept
inline constexpr std::size_t kUpstreamStderrPerSecond =
    256 * kKiB;  // looked at; the rest is read and thrown away
inline constexpr auto kUpstreamFreshMin =
    1s;  // a list that may not be kept at all is still asked for only this often
inline constexpr auto kUpstreamVerdict =
    7 * 24h;  // "speaks a legacy revision" is asked again after this: servers are updated
inline constexpr int kUpstreamTimeouts =
    3;  // calls in a row that nobody answered: then the server is asked if it lives
inline constexpr auto kUpstreamPing = 10s;       // and has so long to say yes
inline constexpr auto kUpstreamExitReport = 1s;  // between a closed connection and the exit status behind it
inline constexpr std::size_t kToolNameBytes = 64;  // what model APIs take
inline constexpr std::size_t kSecretBytes = 64 * kKiB;
inline constexpr std::size_t kSecrets = 1'000;
inline constexpr std::size_t kSecretBytesMin =
    6;  // shorter values are too common in ordinary text to be blotted out
inline constexpr std::size_t kRedactorBytes = 8 * kMiB;  // all spellings of all values that are looked for
inline constexpr std::size_t kCagePlanBytes = 1 * kMiB;
inline constexpr std::size_t kCageConnections = 64;  // open at once from one caged server to its hosts
inline constexpr std::size_t kCageHeadBytes =
    16 * kKiB;                           // what a caged server says before its proxy connects
inline constexpr auto kCageIdle = 300s;  // a proxied connection on which nothing moves
// What all processes in one cage may use together; each has a key under mcps[].sandbox.limits.
inline constexpr std::size_t kCageMemoryBytes = 2048 * kMiB;  // Node with a large bundle, started by npx
inline constexpr std::size_t kCageProcesses = 256;            // threads count: Node alone has eleven
inline constexpr std::size_t kCageCpuPercent = 200;           // of one processor: a build step uses two
inline constexpr std::size_t kCageOpenFiles = 4096;           // of one process; npm opens many at once
inline constexpr std::size_t kCageFileBytes = 4096 * kMiB;    // one file: above models and disk images
inline constexpr std::size_t kCageTmpBytes = 512 * kMiB;      // of /tmp, home and /dev/shm, in memory
inline constexpr std::size_t kCageTmpInodes = 65'536;         // a big node_modules has 40,000
inline constexpr std::size_t kCageOwnProcesses = 2;           // relay-cage itself, beside the server's
inline constexpr std::size_t kCageNice = 10;                  // where there is no processor quota
inline constexpr auto kCageWatch = 1s;           // between two looks at what the kernel counted in a group
inline constexpr auto kCageMemoryWatch = 250ms;  // between two sums of memory where no group counts it
inline constexpr auto kCageRemoval = 500ms;      // for the group of a dead cage to become empty
inline constexpr auto kSupervisorEnd = 2s;  // for descendants to die of SIGKILL; another user's are left then
inline constexpr std::size_t kImportFileBytes = 4 * kMiB;

// Upstream tools called from code.
inline constexpr std::size_t kInnerResultBytes =
    16 * kMiB;  // one result; it goes to the program, not to the model
inline constexpr std::size_t kInnerCallsInFlight = 64;  // per run; more wait their turn
inline constexpr std::size_t kDocsResults = 20;         // of one search for tools
inline constexpr std::size_t kLearnedTypeBytes = 16 * kKiB;
inline constexpr std::size_t kLearnedTypes = 2'000;
inline constexpr std::size_t kLearnedSampleBytes =
    64 * kKiB;  // a longer result is not looked into: that would hold up the loop
inline constexpr std::size_t kLearnedSamples = 64;  // of one tool; then its type is known well enough
inline constexpr std::size_t kLearnedMembers = 64;  // of one object; with more it is a map
inline constexpr auto kDocsWait = 10s;  // for servers to say what they offer; the others are left out
inline constexpr std::size_t kStubBytes = 64 * kKiB;     // one tool's declaration
inline constexpr std::size_t kIndexBytes = 1 * kMiB;     // those of one server in one file
inline constexpr std::size_t kStubTextBytes = 8 * kKiB;  // one description in them
inline constexpr std::size_t kShapeNodes = 2'000;        // of one schema that are shown
inline constexpr int kShapeDepth = 16;
inline constexpr std::size_t kRunTokens = 1024;  // runs that may call over HTTP at once

// Shell commands.
inline constexpr std::size_t kShellTextBytes =
    128 * kKiB;                                    // a longer one is not understood; no argument is longer
inline constexpr std::size_t kShellNesting = 100;  // of commands in commands; bounds the stack
inline constexpr std::size_t kShellParseSteps = 1'048'576;          // of the parser for one text, about 15 ms
inline constexpr std::size_t kShellInnerTexts = 8;                  // texts in texts: bash -c "bash -c '…'"
inline constexpr std::size_t kShellFiles = 1'000;                   // that one text writes
inline constexpr std::size_t kShellCommands = 5'000;                // of one text and those in it
inline constexpr std::size_t kShellPatternMemoryBytes = 64 * kMiB;  // most that the pattern table may use
inline constexpr std::size_t kShellOpaqueParts = 32;         // reasons that are told; more say nothing new
inline constexpr std::size_t kShellClauseBytes = 160;        // of one reason
inline constexpr std::size_t kShellGuesses = 4;              // values of one variable that are tried
inline constexpr std::size_t kShellGuessBytes = 2 * kKiB;    // of one such value
inline constexpr std::size_t kShellGuessTotal = 128 * kKiB;  // of all values in one command
inline constexpr std::size_t kShellOutputDepth = 16;         // commands in a pipe whose output is worked out
inline constexpr std::size_t kShellWork = 2 * kMiB;          // bytes of arguments of all commands of a text
inline constexpr std::size_t kShellReadings = 64;            // ways to read one command
inline constexpr std::size_t kShellTotalBytes = 256 * kKiB;  // of a text and the texts in it
inline constexpr std::size_t kShellBraceBytes = 1 * kKiB;    // of a word whose braces are expanded
inline constexpr std::size_t kShellWordFields = 256;         // words that one word expands to

}  // namespace relay::limits
