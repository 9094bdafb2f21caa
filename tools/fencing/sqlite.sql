-- A guard for SQLite (3.24 and later). Paste it once; tools/fencing/README.md says what it is for.
--
-- In a transaction, before the writes:
--
--     BEGIN IMMEDIATE;
--     INSERT INTO redlock_fences VALUES ('orders', 1700000000000001)  -- resource, token
--         ON CONFLICT (resource) DO UPDATE SET token = excluded.token;
--     UPDATE orders SET state = 'paid' WHERE id = 7;
--     COMMIT;
--
-- A late token is an error that rolls the transaction back. Stop there: a program that ignores the error would write
-- after it, outside of any transaction.
--
-- Where each row has a guard of its own, a column is enough. changes() is 0: refused, or there is no such row.
--
--     ALTER TABLE orders ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
--     UPDATE orders SET state = 'paid', fence = ?2 WHERE id = ?1 AND fence <= ?2 AND ?2 > 0;
CREATE TABLE redlock_fences (
    resource TEXT PRIMARY KEY NOT NULL,
    token INTEGER NOT NULL CHECK (typeof(token) = 'integer' AND token > 0)
);

CREATE TRIGGER redlock_fences_late BEFORE UPDATE ON redlock_fences WHEN NEW.token < OLD.token
BEGIN
    SELECT RAISE(ROLLBACK, 'late write: its token is older than one that has written');
END;
