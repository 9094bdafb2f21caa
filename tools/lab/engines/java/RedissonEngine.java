import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's locks as engines: "lock", "fair" and "redlock" are the names. As its manual has it, the lease is left to
 * the watchdog, which prolongs it every third of lockWatchdogTimeout; that is set to the ttl that is compared. Waiters
 * are told by publish and subscribe. A holder is a thread to Redisson, and here a number that no thread has.
 */
final class RedissonEngine implements Protocol.Engine {
    private final String kind;
    private final List<RedissonClient> clients = new ArrayList<>();

    private RedissonEngine(String kind) {
        this.kind = kind;
    }

    @Override
    public String hello() {
        String version = Redisson.class.getPackage().getImplementationVersion();
        String ttl = " ttl=" + new Config().getLockWatchdogTimeout();
        return switch (kind) {
            case "lock" -> "redisson " + version + " can=lease,renewal on=redis:1,sentinel" + ttl;
            case "fair" -> "redisson-fair " + version + " can=lease,renewal,fifo on=redis:1,sentinel" + ttl;
            default -> "redisson-redlock " + version + " can=lease,renewal on=redis:5" + ttl;
        };
    }

    private static Config config(Map<String, String> settings) {
        Config config = new Config();
        config.setLockWatchdogTimeout(Long.parseLong(settings.getOrDefault("ttl_ms", "30000")));
        return config;
    }

    private static String url(String node) {
        return node.contains("://") ? node : "redis://" + node;
    }

    @Override
    public void open(Map<String, String> settings) {
        String[] nodes = settings.get("nodes").split(",");
        if ("sentinel".equals(settings.get("system"))) {
            Config config = config(settings);
            config.useSentinelServers().setMasterName(settings.getOrDefault("master", "redlock"));
            for (String node : nodes) {
                config.useSentinelServers().addSentinelAddress(url(node));
            }
            clients.add(Redisson.create(config));
            return;
        }
        for (String node : nodes) {
            Config config = config(settings);
            config.useSingleServer().setAddress(url(node));
            clients.add(Redisson.create(config));
        }
    }

    private RLock lock(String key) {
        return switch (kind) {
            case "lock" -> clients.get(0).getLock(key);
            case "fair" -> clients.get(0).getFairLock(key);
            default -> new RedissonRedLock(clients.stream().map(client -> client.getLock(key)).toArray(RLock[]::new));
        };
    }

    /** -1: the watchdog's lease. A wait of 0 is a single attempt. */
    @Override
    public CompletableFuture<Boolean> acquire(long holder, String key, long ttlMs, long timeoutMs) {
        return lock(key).tryLockAsync(timeoutMs, -1, TimeUnit.MILLISECONDS, holder).toCompletableFuture();
    }

    @Override
    public CompletableFuture<Void> release(long holder, String key) {
        return lock(key).unlockAsync(holder).toCompletableFuture();
    }

    /** Redisson knows of no end while the watchdog is at work, and tells nobody when it is not. */
    @Override
    public Long remaining(long holder, String key) {
        return null;
    }

    /** Its own exception for a lock that is not this holder's any more. */
    @Override
    public boolean isLost(Throwable error) {
        Throwable cause = error.getCause() == null ? error : error.getCause();
        return cause instanceof IllegalMonitorStateException;
    }

    public static void main(String[] args) throws IOException {
        new Protocol(new RedissonEngine(args[0])).run();
    }
}
