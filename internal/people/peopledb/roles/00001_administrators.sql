-- The users who may do everything.
CREATE TABLE administrators (
    user_id bigint PRIMARY KEY REFERENCES users
);
