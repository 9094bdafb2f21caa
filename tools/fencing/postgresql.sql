-- A guard for PostgreSQL (9.5 and later). Paste it once; tools/fencing/README.md says what it is for.
--
-- In a transaction, before the writes:
--
--     BEGIN;
--     SELECT redlock_fence('orders', 1700000000000001);  -- resource, token
--     UPDATE orders SET state = 'paid' WHERE id = 7;
--     COMMIT;
--
-- A late token is an error, after which PostgreSQL takes nothing but ROLLBACK. The row of the resource is locked until
-- the transaction ends, so a newer holder's check waits for an older one's COMMIT.
--
-- Where each row has a guard of its own, a column is enough. No row changed: refused, or there is no such row.
--
--     ALTER TABLE orders ADD COLUMN fence bigint NOT NULL DEFAULT 0;
--     UPDATE orders SET state = 'paid', fence = $2 WHERE id = $1 AND fence <= $2 AND $2 > 0;
CREATE TABLE redlock_fences (resource text PRIMARY KEY, token bigint NOT NULL);

CREATE FUNCTION redlock_fence(guarded text, sent bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF sent IS NULL OR sent <= 0 THEN
        RAISE EXCEPTION 'a write to % has no fencing token', guarded;
    END IF;
    INSERT INTO redlock_fences AS known VALUES (guarded, sent)
        ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE known.token <= excluded.token;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'late write to %: token % is older than one that has written', guarded, sent;
    END IF;
END $$;

-- For tables whose programs must not forget it. Each transaction says its token first:
--
--     SET LOCAL redlock.token = 1700000000000001;
--
--     CREATE TRIGGER fenced BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON orders
--         FOR EACH STATEMENT EXECUTE PROCEDURE redlock_guard('orders');
CREATE FUNCTION redlock_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM redlock_fence(TG_ARGV[0], nullif(current_setting('redlock.token', true), '')::bigint);
    RETURN NULL;
END $$;
