-- Counts of days, but for those of items, are written with the calls. Days that were not over
-- when the version before wrote them are added up here.
INSERT INTO request_days (workspace_id, subject, day, subject_id, result, calls)
    SELECT workspace_id, 0, hour / 24, 0, result, sum(calls) FROM request_counts
    WHERE hour / 24 > (SELECT coalesce(max(day), 0) FROM request_days_done) GROUP BY workspace_id, hour / 24, result;
INSERT INTO request_days (workspace_id, subject, day, subject_id, result, calls)
    SELECT workspace_id, 2, hour / 24, key_id, result, sum(calls) FROM request_counts
    WHERE hour / 24 > (SELECT coalesce(max(day), 0) FROM request_days_done) GROUP BY workspace_id, hour / 24, key_id, result;
