import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The protocol of tools/lab/engines/README.md, for engines whose locks are taken by calls that give a future. */
final class Protocol {
    /** What an engine is asked for. */
    interface Engine {
        String hello();

        void open(Map<String, String> settings);

        /** False: somebody else has it. */
        CompletableFuture<Boolean> acquire(long holder, String key, long ttlMs, long timeoutMs);

        CompletableFuture<Void> release(long holder, String key);

        /** Milliseconds, or null if no end is known. */
        Long remaining(long holder, String key);

        boolean isLost(Throwable error);
    }

    private record Hold(long holder, String key) {}

    private final Engine engine;
    private final Map<String, Hold> holds = new ConcurrentHashMap<>();
    private String prefix = "";
    private long holders;

    Protocol(Engine engine) {
        this.engine = engine;
    }

    private static void say(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object word : words) {
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        synchronized (System.out) {
            System.out.println(line);
            System.out.flush();
        }
    }

    private static String encode(String text) {
        return text == null || text.isEmpty() ? "-"
                : URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static Map<String, String> parse(String[] words) {
        Map<String, String> settings = new HashMap<>();
        for (String word : Arrays.copyOfRange(words, 1, words.length)) {
            int equals = word.indexOf('=');
            settings.put(word.substring(0, equals), decode(word.substring(equals + 1)));
        }
        return settings;
    }

    private void acquire(String id, String key, long ttlMs, long timeoutMs) {
        Hold hold = new Hold(++holders, prefix + key);
        long t0 = System.nanoTime();
        engine.acquire(hold.holder, hold.key, ttlMs, timeoutMs).whenComplete((acquired, error) -> {
            long t1 = System.nanoTime();
            if (error != null) {
                say("refused", id, t0, t1, "unreachable", encode(String.valueOf(error)));
            } else if (!acquired) {
                say("refused", id, t0, t1, "held", "-");
            } else {
                holds.put(id, hold);
                say("acquired", id, t0, t1);
            }
        });
    }

    private void valid(String id) {
        Hold hold = holds.get(id);
        long t0 = System.nanoTime();
        Long remaining = engine.remaining(hold.holder, hold.key);
        say("valid", id, t0, System.nanoTime(), remaining == null ? "-" : Math.max(0, remaining));
    }

    private void release(String id) {
        Hold hold = holds.remove(id);
        long t0 = System.nanoTime();
        engine.release(hold.holder, hold.key).whenComplete((nothing, error) -> {
            String outcome = error == null ? "ok" : engine.isLost(error) ? "lost" : "unconfirmed";
            say("released", id, t0, System.nanoTime(), outcome);
        });
    }

    private void obey(String[] words) {
        switch (words[0]) {
            case "hello" -> say("hello 1", engine.hello());
            case "open" -> {
                Map<String, String> settings = parse(words);
                prefix = settings.getOrDefault("prefix", "");
                engine.open(settings);
                say("opened");
            }
            case "acquire" -> acquire(words[1], decode(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4]));
            case "valid" -> valid(words[1]);
            case "release" -> release(words[1]);
            case "bye" -> {
                say("bye");
                Runtime.getRuntime().halt(0);
            }
            default -> throw new IllegalArgumentException("what is " + words[0] + "?");
        }
    }

    void run() throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                obey(line.split(" "));
            }
        } catch (RuntimeException error) {
            say("failed", encode(String.valueOf(error)));
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0); // the end of a holder
    }
}
