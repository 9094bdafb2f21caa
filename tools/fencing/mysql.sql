-- A guard for MariaDB (10.3 and later) and MySQL (8.0). Paste it once; tools/fencing/README.md says what it is for.
--
-- In a transaction, before the writes:
--
--     START TRANSACTION;
--     CALL redlock_fence('orders', 1700000000000001);  -- resource, token
--     UPDATE orders SET state = 'paid' WHERE id = 7;
--     COMMIT;
--
-- A late token is an error (SQLSTATE 45000): then ROLLBACK. Unlike PostgreSQL's, this transaction would go on. Without
-- a transaction the check and the write come apart. The row of the resource is locked until the transaction ends, so
-- a newer holder's check waits for an older one's COMMIT.
--
-- Where each row has a guard of its own, a column is enough. No row matched: refused, or there is no such row.
--
--     ALTER TABLE orders ADD COLUMN fence bigint unsigned NOT NULL DEFAULT 0;
--     UPDATE orders SET state = 'paid', fence = @token WHERE id = 7 AND fence <= @token AND @token > 0;
CREATE TABLE redlock_fences (resource varchar(190) PRIMARY KEY, token bigint unsigned NOT NULL) ENGINE = InnoDB;

DELIMITER //
CREATE PROCEDURE redlock_fence(guarded varchar(190), sent bigint unsigned)
BEGIN
    IF sent IS NULL OR sent = 0 THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a write has no fencing token';
    END IF;
    INSERT INTO redlock_fences VALUES (guarded, sent) ON DUPLICATE KEY UPDATE token = GREATEST(token, sent);
    IF (SELECT token FROM redlock_fences WHERE resource = guarded FOR UPDATE) > sent THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'late write: its token is older than one that has written';
    END IF;
END //
DELIMITER ;

-- For tables whose programs must not forget it. Each transaction says its token first: SET @redlock_token = ...;
-- one trigger for each of INSERT, UPDATE and DELETE:
--
--     CREATE TRIGGER orders_update BEFORE UPDATE ON orders FOR EACH ROW CALL redlock_fence('orders', @redlock_token);
