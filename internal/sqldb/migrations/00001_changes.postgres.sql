CREATE TABLE meta (
    name  text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE changes (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    topic  text NOT NULL,
    ref    text NOT NULL,
    at     text NOT NULL
);

CREATE FUNCTION countersign_tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('countersign_changes', NEW.topic || ' ' || NEW.ref);
    RETURN NULL;
END
$$;

CREATE TRIGGER changes_tell AFTER INSERT ON changes
    FOR EACH ROW EXECUTE FUNCTION countersign_tell_change();
