module signpost

go 1.26
