-- How https urls of an upstream are called: paths of PEM files, which every node reads for itself. No secret is kept here.
alter table upstream
    -- Null: the authorities of the web.
    add column tls_ca text,
    add column tls_cert text,
    add column tls_key text,
    -- A certificate is of no use without its key.
    add constraint upstream_tls_pair check ((tls_cert is null) = (tls_key is null));
